"""Bytes of an answer that the client has not received yet: a little stays in memory, the rest goes to a file."""

import itertools
import tempfile
from collections import deque
from contextlib import suppress
from typing import IO, Protocol

from api.server.framing import KIB

#: Bytes beyond this go to a temporary file without a name.
_IN_MEMORY_BYTES = 1024 * KIB
#: Beyond this the answer is abandoned: its client is far too slow.
_MAX_BYTES = 256 * 1024 * KIB
# The number of pieces per system call, and the size of a block that is read from the file.
_PIECES = 64
_BLOCK_BYTES = 256 * KIB


class Sender(Protocol):
    """A socket that does not block."""

    def send(self, data: memoryview, /) -> int:
        """Send some of the bytes and return how many."""

    def sendmsg(self, buffers: list[memoryview], /) -> int:
        """Send some bytes of several pieces and return how many."""


class OutboxFull(OSError):
    """The client is so far behind that the rest of the answer is not stored."""


class Outbox:
    """Bytes on their way to one client, in order."""

    __slots__ = ("_file", "_file_read", "_file_written", "_pieces", "bytes")

    def __init__(self) -> None:
        self._pieces: deque[memoryview] = deque()
        self._file: IO[bytes] | None = None
        self._file_read = self._file_written = 0
        #: The number of waiting bytes.
        self.bytes = 0

    def put(self, data: bytes) -> None:
        """Add bytes after those that wait already. Raises OutboxFull."""
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
        """Send what the client accepts now and return whether that was all. Raises OSError if the client has left."""
        with suppress(BlockingIOError):
            while self.bytes:
                self._refill()
                if len(self._pieces) == 1:
                    self._remove_sent(sender.send(self._pieces[0]))
                else:
                    self._remove_sent(sender.sendmsg(list(itertools.islice(self._pieces, _PIECES))))
        return not self.bytes

    def close(self) -> None:
        """Discard the waiting bytes."""
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
