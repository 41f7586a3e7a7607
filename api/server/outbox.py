"""What was answered and not taken yet. Nobody waits for a slow reader: a little stays in memory, the rest in a file."""

import itertools
import tempfile
from collections import deque
from contextlib import suppress
from typing import IO, Protocol

from api.server.framing import KIB

#: More than this goes to a temporary file that has no name.
_IN_MEMORY_BYTES = 1024 * KIB
#: More than this, and the answer is given up: its reader does not keep up by far.
_MAX_BYTES = 256 * 1024 * KIB
# As many pieces as one system call is given, and as much as is read from the file for one.
_PIECES = 64
_BLOCK_BYTES = 256 * KIB


class Sender(Protocol):
    """What takes bytes without waiting: a socket that does not block."""

    def send(self, data: memoryview, /) -> int:
        """Take some bytes and return how many."""

    def sendmsg(self, buffers: list[memoryview], /) -> int:
        """Take some bytes of several pieces and return how many."""


class OutboxFull(OSError):
    """The reader is so far behind that the rest of the answer is not kept."""


class Outbox:
    """Bytes on their way to one client, in order."""

    __slots__ = ("_file", "_file_read", "_file_written", "_pieces", "bytes")

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()
        self._file: IO[bytes] | None = None
        self._file_read = self._file_written = 0
        #: How many bytes wait.
        self.bytes = 0

    def put(self, data: bytes) -> None:
        """Keep bytes behind those that wait already. Raises Overfull."""
        if self.bytes + len(data) > _MAX_BYTES:
            raise OutboxFull(f"{self.bytes} bytes of an answer wait for a client that does not read them")
        self.bytes += len(data)
        if self._file is None and self.bytes <= _IN_MEMORY_BYTES:
            self._pieces.append(memoryview(data))
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # it lives as long as the outbox
        self._file.seek(self._file_written)
        self._file.write(data)
        self._file_written += len(data)

    def push(self, sender: Sender) -> bool:
        """Send what the client takes now and return whether that was all. Raises OSError when the client is gone."""
        with suppress(BlockingIOError):
            while self.bytes:
                self._refill()
                if len(self._pieces) == 1:
                    self._remove_sent(sender.send(self._pieces[0]))
                else:
                    self._remove_sent(sender.sendmsg(list(itertools.islice(self._pieces, _PIECES))))
        return not self.bytes

    def close(self) -> None:
        """Let go of what waits."""
        self._pieces.clear()
        self.bytes = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def _refill(self) -> None:
        if self._pieces or self._file is None:
            return
        self._file.seek(self._file_read)
        block = self._file.read(_BLOCK_BYTES)
        self._file_read += len(block)
        self._pieces.append(memoryview(block))
        if self._file_read == self._file_written:
            self._file.close()
            self._file, self._file_read, self._file_written = None, 0, 0

    def _remove_sent(self, count: int) -> None:
        self.bytes -= count
        while count:
            first = self._pieces.popleft()
            if count < len(first):
                self._pieces.appendleft(first[count:])
                return
            count -= len(first)
