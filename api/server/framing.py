"""When has a request arrived whole? Counts its bytes; what they mean is for the HTTP parser to say.

The parser is gunicorn's, and it is asked only about bytes that are all there. Where this page and the parser could
differ (a malformed length, a malformed chunk) the request is called whole, so that the parser sees it and refuses it.
"""

import re

KIB = 1024
#: The longest head. Ours have a kilobyte; nobody means to send a longer one.
MAX_HEAD_BYTES = 64 * KIB
#: The largest body that any route takes, with room for the framing of its chunks.
MAX_BODY_BYTES = 5 * 1024 * KIB
#: The most chunks that a body comes in: the largest in lines of eighty characters. The parser takes the longer for each
#: the more there are.
MAX_CHUNKS = 64 * KIB

_HEAD_END = b"\r\n\r\n"
_LINE_END = b"\r\n"
_MAX_SIZE_LINE_BYTES = 8 * KIB
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)[ \t]*(?=\r\n)", re.IGNORECASE)
# A number may have any zeros in front; with more digits than this behind them it is larger than any body.
_LENGTH_DIGITS = 18
_CODING = re.compile(rb"\r\ntransfer-encoding:([^\r\n]*)", re.IGNORECASE)
_EXPECTS_CONTINUE = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}[ \t]*(;.*)?")


class RequestBytes:
    """The bytes of one request, and of what its sender sent behind it."""

    __slots__ = ("_at", "_body", "_bytes", "_chunks", "_end", "declared_bytes", "expects_continue", "is_chunked")

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._body: int | None = None  # where the body begins; None while the head is arriving
        self._end: int | None = None  # where the request ends, once that is known
        self._chunks = 0  # how many of them are known
        self._at = 0  # where to look on: for the head's end, or for the next chunk's size
        #: Says whether the sender waits for a word before it sends the body.
        self.expects_continue = False
        #: The length of the body as its sender gives it.
        self.declared_bytes = 0
        #: Says whether the body comes in chunks.
        self.is_chunked = False

    def __len__(self) -> int:
        """Return how many bytes are here."""
        return len(self._bytes)

    def add(self, data: bytes) -> None:
        """Take what has arrived. The work done is in proportion to `data`, not to what was here before."""
        self._bytes += data
        if self._body is None:
            self._look_for_head()
        if self.is_chunked and self._end is None:
            self._look_for_chunks()

    @property
    def has_head(self) -> bool:
        """Say whether the head is all here."""
        return self._body is not None

    @property
    def is_whole(self) -> bool:
        """Say whether the request is all here."""
        return self._end is not None and len(self._bytes) >= self._end

    @property
    def has_too_large_head(self) -> bool:
        """Say whether the head is longer than any that is taken."""
        return len(self._bytes) > MAX_HEAD_BYTES if self._body is None else self._body > MAX_HEAD_BYTES

    @property
    def has_too_large_body(self) -> bool:
        """Say whether the body is larger than any that is taken."""
        if self._body is None:
            return False
        arrived = len(self._bytes) - self._body if self.is_chunked and not self.is_whole else 0
        return max(self.declared_bytes, arrived) > MAX_BODY_BYTES

    @property
    def has_too_many_chunks(self) -> bool:
        """Say whether the body comes in more chunks than are taken."""
        return self._chunks > MAX_CHUNKS

    def split(self) -> tuple[bytes, bytes]:
        """Return the whole request, and what came behind it."""
        assert self._end is not None
        return bytes(self._bytes[: self._end]), bytes(self._bytes[self._end :])

    def _look_for_head(self) -> None:
        if self._at == 0 and self._bytes.startswith(_LINE_END):
            del self._bytes[:2]  # an empty line before a request is passed over
        index = self._bytes.find(_HEAD_END, self._at)
        if index < 0:
            self._at = max(0, len(self._bytes) - len(_HEAD_END) + 1)
            return
        self._body = self._at = index + len(_HEAD_END)
        head = bytes(self._bytes[: self._body])
        lengths = _LENGTH.findall(head)
        codings = _CODING.findall(head)
        if codings:  # another coding than chunks, or a length besides them, is refused when the head is parsed
            self.is_chunked = not lengths and [coding.strip().lower() for coding in codings] == [b"chunked"]
        elif len(lengths) == 1:
            self.declared_bytes = _length(lengths[0])
        self.expects_continue = _EXPECTS_CONTINUE.search(head) is not None
        if not self.is_chunked:
            self._end = self._body + self.declared_bytes

    def _look_for_chunks(self) -> None:
        while self._at < len(self._bytes) and not self.has_too_many_chunks:
            line_end = self._bytes.find(_LINE_END, self._at, self._at + _MAX_SIZE_LINE_BYTES)
            if line_end < 0:
                if len(self._bytes) - self._at >= _MAX_SIZE_LINE_BYTES:
                    self._end = len(self._bytes)
                return
            size = _CHUNK_SIZE.fullmatch(self._bytes, self._at, line_end)
            if size is None:
                self._end = len(self._bytes)
                return
            length = int(bytes(size[0]).partition(b";")[0], 16)
            if length == 0:
                self._look_for_trailer(line_end)
                return
            self._chunks += 1
            self._at = line_end + len(_LINE_END) + length + len(_LINE_END)

    def _look_for_trailer(self, last_size_end: int) -> None:
        # The size of the last chunk ends one line, and an empty line ends the trailer, which is short or missing.
        index = self._bytes.find(_HEAD_END, last_size_end)
        if index >= 0:
            self._end = index + len(_HEAD_END)
        elif len(self._bytes) - last_size_end > MAX_HEAD_BYTES:
            self._end = len(self._bytes)


def _length(digits: bytes) -> int:
    significant = digits.lstrip(b"0")
    return int(significant or b"0") if len(significant) <= _LENGTH_DIGITS else MAX_BODY_BYTES + 1
