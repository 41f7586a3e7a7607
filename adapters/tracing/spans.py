"""A span begins and ends: of a request, a job, or a call to the outside, each under what asked for it.

What it stands under is text bound to the thread's log lines (`traceparent`), which `models.db` writes into the jobs
that are asked for meanwhile. Attributes are ids of our own, names and numbers; never a body, an address, a header or
the text of an error. Nothing here raises, and without `configure` a span costs a comparison.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from adapters import absent

with absent("rich"):  # as in `adapters.logs`, which not every process loads
    import structlog

_BOUND = "traceparent"
_NO_NAMES: Mapping[str, str] = {}
# What OpenTelemetry has a name for; the rest has ours.
_KNOWN_AS = {
    "method": "http.request.method",
    "route": "http.route",
    "status": "http.response.status_code",
    "error": "error.type",
}


class Exporting(Protocol):
    """What makes spans and sends them on, in its own time."""

    def start(self, name: str, *, kind: str, parent: str | None, attributes: dict[str, Any]) -> Any: ...
    def named(self, begun: Any) -> str: ...
    def flush(self) -> None: ...


_exporting: Exporting | None = None


def configure(exporting: Exporting | None) -> None:
    """Send this process's spans on from now on; None sends no more."""
    global _exporting
    _exporting = exporting


def flush() -> None:
    """Send what has ended, before a process does; gives up after a second."""
    if _exporting is not None:
        _exporting.flush()


class Span:
    """What is under way. As a context it also says how that ended: with the kind of an error, if with any."""

    def __init__(self, begun: Any, names: Mapping[str, str]) -> None:
        self._begun = begun
        self._before = structlog.contextvars.bind_contextvars(**names)

    def name(self, name: str) -> None:
        """Call it so from now on."""
        self._begun.update_name(name)

    def tell(self, **attributes: str | int) -> None:
        """Add what is known now."""
        self._begun.set_attributes(_ours(attributes))

    def end(self) -> None:
        """Say that it is over."""
        structlog.contextvars.reset_contextvars(**self._before)
        self._begun.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        if kind is not None:
            self.tell(error=kind.__name__)
        self.end()


class NoSpan:
    """What a span is where nobody looks."""

    def name(self, name: str) -> None:
        """Call nothing so."""

    def tell(self, **attributes: str | int) -> None:
        """Add nothing."""

    def end(self) -> None:
        """Say nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


_NO_SPAN = NoSpan()


def request(request_id: str, method: str) -> Span | NoSpan:
    """Begin the span of a request, in a trace of its own: nobody outside says which."""
    if _exporting is None:
        return _NO_SPAN
    return _begin(_exporting, method, kind="server", parent=None, told={"request_id": request_id, "method": method})


def job(name: str, carried: object, **told: str | int) -> Span | NoSpan:
    """Begin the span of an attempt of a job, under what asked for it, as its message carried it."""
    if _exporting is None:
        return _NO_SPAN
    parent, _, request_id = str(carried or "").partition(" ")
    names = {"request_id": request_id} if request_id else {}
    return _begin(_exporting, name, kind="consumer", parent=parent, told={**told, **names}, names=names)


def call(name: str, method: str) -> Span | NoSpan:
    """Begin the span of a call to another server, under what this thread is at work on."""
    if _exporting is None:
        return _NO_SPAN
    under = structlog.contextvars.get_contextvars().get(_BOUND)
    return _begin(_exporting, name, kind="client", parent=under, told={"method": method})


def _begin(
    exporting: Exporting,
    name: str,
    *,
    kind: str,
    parent: str | None,
    told: Mapping[str, str | int],
    names: Mapping[str, str] = _NO_NAMES,
) -> Span:
    begun = exporting.start(name, kind=kind, parent=parent, attributes=_ours(told))
    return Span(begun, {**names, _BOUND: exporting.named(begun)})


def _ours(told: Mapping[str, str | int]) -> dict[str, str | int]:
    return {_KNOWN_AS.get(name, f"finderfee.{name}"): value for name, value in told.items()}
