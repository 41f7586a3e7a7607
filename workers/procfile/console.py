"""Writes the lines of many programs to one output, each behind the name of its program."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

# A line without an end is written in pieces of this size.
_LINE_LIMIT_BYTES = 65_536
# Terminal colours that are readable on light and dark backgrounds; bold is for the host's own lines.
_COLOURS, _BOLD = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94), 1


@dataclass(slots=True)
class Lines:
    """Splits the bytes of a pipe into lines and keeps the unfinished one."""

    unfinished: bytes = b""

    def cut(self, read: bytes) -> list[str]:
        """Return the lines that the bytes just read complete; b'' is the end and completes the last one."""
        *lines, self.unfinished = (self.unfinished + read).split(b"\n")
        if self.unfinished and (not read or len(self.unfinished) >= _LINE_LIMIT_BYTES):
            lines.append(self.unfinished)
            self.unfinished = b""
        return [line.decode(errors="replace").rstrip("\r") for line in lines]


class Console:
    """Writes `name | line`, the names padded to one width and, on a terminal, coloured."""

    def __init__(self, out: TextIO, *, programs: Sequence[str], host: str) -> None:
        """Take the programs' names and the name that the host's own lines carry."""
        self._out = out
        self._width = max(len(name) for name in [host, *programs])
        self._colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(programs)}

    def write_line(self, name: str, line: str) -> None:
        """Write one line and flush it."""
        label = f"{name:<{self._width}} |"
        if self._out.isatty():
            label = f"\033[{self._colours.get(name, _BOLD)}m{label}\033[0m"
        # The programs continue when the reader of the output has closed it, as in `| head`.
        with suppress(BrokenPipeError):
            self._out.write(f"{label} {line}\n")
            self._out.flush()
