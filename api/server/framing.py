"""Detects when a request has arrived completely, by counting its bytes; the HTTP parser interprets them.

gunicorn's parser gets only complete requests. If this module and the parser could differ (a malformed length or chunk),
the request counts as complete, so that the parser sees it and refuses it.
"""

import re

KIB = 1024
#: The maximum size of a head. Normal ones have about a kilobyte.
MAX_HEAD_BYTES = 64 * KIB
#: The largest body that any route accepts, with room for the framing of its chunks.
MAX_BODY_BYTES = 17 * 1024 * KIB
#: The maximum number of chunks of a body: 5 MiB in lines of eighty characters, or 17 MiB in chunks of 272 bytes. The
#: parser's time per chunk grows with their number.
MAX_CHUNKS = 64 * KIB

_HEAD_END = b"\r\n\r\n"
_LINE_END = b"\r\n"
_MAX_SIZE_LINE_BYTES = 8 * KIB
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)[ \t]*(?=\r\n)", re.IGNORECASE)
# A length may have leading zeros; with more digits than this after them it is larger than any body.
_LENGTH_DIGITS = 18
_CODING = re.compile(rb"\r\ntransfer-encoding:([^\r\n]*)", re.IGNORECASE)
_EXPECTS_CONTINUE = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}[ \t]*(;.*)?")


class RequestBytes:
    """The bytes of one request, and those that arrived after it."""

    __slots__ = ("_at", "_body", "_bytes", "_chunks", "_end", "declared_bytes", "expects_continue", "is_chunked")

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._body: int | None = None  # the start of the body; None while the head is arriving
        self._end: int | None = None  # the end of the request, once it is known
        self._chunks = 0  # the number of chunks so far
        self._at = 0  # where the search continues: for the head's end, or for the next chunk's size
        #: Whether the sender waits for 100 Continue before it sends the body.
        self.expects_continue = False
        #: The length of the body in the request's head.
        self.declared_bytes = 0
        #: Whether the body is chunked.
        self.is_chunked = False

    def __len__(self) -> int:
        """Return how many bytes have arrived."""
        return len(self._bytes)

    def add(self, data: bytes) -> None:
        """Add bytes that have arrived. The work is proportional to `data`, not to the bytes before it."""
        self._bytes += data
        if self._body is None:
            self._look_for_head()
        if self.is_chunked and self._end is None:
            self._look_for_chunks()

    @property
    def has_head(self) -> bool:
        """Whether the head has arrived completely."""
        return self._body is not None

    @property
    def is_whole(self) -> bool:
        """Whether the request has arrived completely."""
        return self._end is not None and len(self._bytes) >= self._end

    @property
    def has_too_large_head(self) -> bool:
        """Whether the head is larger than the maximum."""
        return len(self._bytes) > MAX_HEAD_BYTES if self._body is None else self._body > MAX_HEAD_BYTES

    @property
    def has_too_large_body(self) -> bool:
        """Whether the body is larger than the maximum."""
        if self._body is None:
            return False
        arrived = len(self._bytes) - self._body if self.is_chunked and not self.is_whole else 0
        return max(self.declared_bytes, arrived) > MAX_BODY_BYTES

    @property
    def has_too_many_chunks(self) -> bool:
        """Whether the body has more chunks than the maximum."""
        return self._chunks > MAX_CHUNKS

    def split(self) -> tuple[bytes, bytes]:
        """Return the complete request, and the bytes after it."""
        assert self._end is not None
        return bytes(self._bytes[: self._end]), bytes(self._bytes[self._end :])

    def _look_for_head(self) -> None:
        if self._at == 0 and self._bytes.startswith(_LINE_END):
            del self._bytes[:2]  # an empty line before a request is skipped
        index = self._bytes.find(_HEAD_END, self._at)
        if index < 0:
            self._at = max(0, len(self._bytes) - len(_HEAD_END) + 1)
            return
        self._body = self._at = index + len(_HEAD_END)
        head = bytes(self._bytes[: self._body])
        lengths = _LENGTH.findall(head)
        codings = _CODING.findall(head)
        if codings:  # another coding, or a length in addition to chunks, is refused when the head is parsed
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
