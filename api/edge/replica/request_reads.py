"""Runs a view at the replica or the primary, and records the position of its commits."""

from collections.abc import Callable
from typing import TypeVar

from flask import current_app, g, request

from api.access import guards
from api.edge.replica.routing import ReadRouter
from models import db
from models.session import thread_mode

Answer = TypeVar("Answer")

_READ_METHODS = ("GET", "HEAD", "OPTIONS")


def run_view(view: Callable[[], Answer], *, may_lag: bool, writes: bool) -> Answer:
    """Run a view after its guard and return its result.

    A view that may lag, and one for a read method unless it `writes`, runs in read-only transactions. Without a replica
    this costs nothing; with one, a view that may lag costs what `ReadRouter` says, and a view that commits costs 1 more
    round trip to the broker's server.
    """
    router = _router()
    if may_lag:
        return _read_at_primary(view) if router is None else router.run(_caller_names(), view)
    if request.method in _READ_METHODS:
        return view() if writes else _read_at_primary(view)
    if router is None:
        return view()
    with thread_mode.recording_commits() as written:
        try:
            return view()
        finally:
            names = {*_caller_names(), *map(str, written.tenants)}
            if written.position and names:
                router.record_commit(sorted(names), written.position)


class PieceReader:
    """Reads pieces of this request's answer, also after its view has returned.

    A piece costs what `run_view` says of a read.
    """

    def __init__(self) -> None:
        self._router, self._names = _router(), _caller_names()

    def read(self, piece: Callable[[], Answer]) -> Answer:
        """Run `piece` and return its result."""
        return _read_at_primary(piece) if self._router is None else self._router.run(self._names, piece)


def _read_at_primary(read: Callable[[], Answer]) -> Answer:
    """Run `read` in read-only transactions and return its result."""
    with db.read_only():
        return read()


def _router() -> ReadRouter | None:
    router: ReadRouter | None = current_app.extensions.get("reads")
    return router


def _caller_names() -> list[str]:
    """Return the names under which the caller's commits are recorded: their organization or account."""
    if not {"caller", "operator", "viewer", "account"} & set(g):
        return []
    names = [guards.caller_name()]
    return [*names, str(guards.viewer().organization_id)] if "viewer" in g else names
