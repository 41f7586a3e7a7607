"""Writes the output lines of several programs to one stream, each prefixed with the program's name."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

# A longer line is written in pieces of this size.
_LINE_LIMIT_BYTES = 65_536
# Terminal colours that are readable on light and dark backgrounds; bold is for the lines of the host process.
_COLOURS, _BOLD = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94), 1


@dataclass(slots=True)
class LineBuffer:
    """Splits the bytes of a pipe into lines and stores the unfinished one."""

    unfinished: bytes = b""

    def split(self, chunk: bytes) -> list[str]:
        """Return the lines that are complete after this chunk; b'' means the end and completes the last line."""
        *lines, self.unfinished = (self.unfinished + chunk).split(b"\n")
        if self.unfinished and (not chunk or len(self.unfinished) >= _LINE_LIMIT_BYTES):
            lines.append(self.unfinished)
            self.unfinished = b""
        return [line.decode(errors="replace").rstrip("\r") for line in lines]


class Console:
    """Writes `name | line`, the names padded to one width and, on a terminal, coloured."""

    def __init__(self, out: TextIO, *, programs: Sequence[str], host: str) -> None:
        """`programs` are the programs' names, `host` the name for the lines of the process that runs them."""
        self._out = out
        self._width = max(len(name) for name in [host, *programs])
        self._colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(programs)}

    def write_line(self, name: str, line: str) -> None:
        """Write one line and flush it."""
        label = f"{name:<{self._width}} |"
        if self._out.isatty():
            label = f"\033[{self._colours.get(name, _BOLD)}m{label}\033[0m"
        # The programs continue when the reader of the output has closed it, as in `| head`.
        with suppress(BrokenPipeError):
            self._out.write(f"{label} {line}\n")
            self._out.flush()
