"""Lists as CSV files, streamed in pieces, so that their size does not matter for memory."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from flask import Response

from api.edge.replica.request_reads import PieceReader
from domain.text import csv_cells
from models import db

# The maximum number of rows of a file.
_MAX_ROWS = 50_000
_PIECE_ROWS = 1_000
_END = "\r\n"
_TO_QUOTE = re.compile('[,"\r\n]').search


class FilePiece(NamedTuple):
    """Some lines of a file, and the position after which the next ones follow."""

    lines: Sequence[Sequence[str]]
    end: Any


def stream(
    file_name: str,
    headings: Sequence[str],
    organization_id: UUID,
    read: Callable[[Any, int], FilePiece | None],
) -> Response:
    """Return a file with these headings. `read` returns the lines after a position, up to a number; None at the end.

    Each piece is one transaction: a slow client keeps none open, and memory holds one piece.
    """
    answer = Response(_lines(headings, organization_id, read, PieceReader()), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return answer


def text_cell(text: str | None) -> str:
    """Return free text as one cell that no spreadsheet executes, quoted if necessary; None is an empty cell."""
    if not text:
        return ""
    cell = csv_cells.escape(text)
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE(cell) else cell


def _lines(
    headings: Sequence[str],
    organization_id: UUID,
    read: Callable[[Any, int], FilePiece | None],
    reader: PieceReader,
) -> Iterator[str]:
    yield ",".join(headings) + _END
    position, left = None, _MAX_ROWS

    def read_next() -> FilePiece | None:
        with db.unit_of_work(organization_id):
            return read(position, min(left, _PIECE_ROWS))

    while left > 0:
        piece = reader.read(read_next)
        if piece is None:
            return
        yield "".join([",".join(line) + _END for line in piece.lines])
        position, left = piece.end, left - len(piece.lines)
