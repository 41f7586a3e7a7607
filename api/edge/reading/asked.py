"""Lets a request read where it may, and remembers that it wrote."""

from collections.abc import Callable
from typing import TypeVar

from flask import current_app, g, request

from api.access import guards
from api.edge.reading.places import Reads
from models import db
from models.session import thread_mode

Answer = TypeVar("Answer")

_ONLY_ASK = ("GET", "HEAD", "OPTIONS")


def run(view: Callable[[], Answer], *, may_lag: bool, writes: bool) -> Answer:
    """Return what a view returns for the caller whom its guard let in.

    What may lag only reads, wherever it does, and so does what is only asked for, unless it `writes`. Without a
    replica this costs nothing; with one, what may lag costs what `Reads` says, and what commits costs 1 round trip to
    the broker's server more.
    """
    reads = _reads()
    if may_lag:
        return _read_at_primary(view) if reads is None else reads.answer(_names(), view)
    if request.method in _ONLY_ASK:
        return view() if writes else _read_at_primary(view)
    if reads is None:
        return view()
    with thread_mode.recording_commits() as written:
        try:
            return view()
        finally:
            names = {*_names(), *map(str, written.tenants)}
            if written.position and names:
                reads.mark(sorted(names), written.position)


class PieceReader:
    """Reads pieces of this request's answer, also once its view has returned.

    A piece costs what `run` says of a read.
    """

    def __init__(self) -> None:
        self._reads, self._names = _reads(), _names()

    def read(self, piece: Callable[[], Answer]) -> Answer:
        """Return what `piece` returns."""
        return _read_at_primary(piece) if self._reads is None else self._reads.answer(self._names, piece)


def _read_at_primary(read: Callable[[], Answer]) -> Answer:
    """Return what `read` returns; its transactions only read."""
    with db.read_only():
        return read()


def _reads() -> Reads | None:
    found: Reads | None = current_app.extensions.get("reads")
    return found


def _names() -> list[str]:
    """Return what the caller goes by who writes and reads: the organization that they act for, and an affiliate."""
    if not {"caller", "operator", "viewer", "account"} & set(g):
        return []
    names = [guards.caller_name()]
    return [*names, str(guards.viewer().organization_id)] if "viewer" in g else names
