"""Declarations of routes: the guard, the request's schemas and the answer's. They are executed and described.

Requests are loaded with the declared schemas (`body.load`, `body.query`), so /api/openapi.json cannot differ from what
the service does.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from flask import Response, after_this_request, g
from marshmallow import Schema

from api.access import guards
from api.access.guards import Guard
from api.edge.replica import request_reads

Shape = Literal["object", "page", "array", "empty", "text"]
Lag = Literal["nothing", "answer", "pieces"]


@dataclass(frozen=True, slots=True)
class SuccessBody:
    """The body of a successful answer: an object, a page of objects, a flat array, nothing, or text of a media type."""

    shape: Shape
    schema: Schema | None = None
    media_type: str = "application/json"


def object_of(schema: Schema) -> SuccessBody:
    """Declare an answer that is one object."""
    return SuccessBody("object", schema)


def page(schema: Schema) -> SuccessBody:
    """Declare an answer that is `{items, nextCursor, hasMore}`."""
    return SuccessBody("page", schema)


def array(schema: Schema) -> SuccessBody:
    """Declare an answer that is a flat array."""
    return SuccessBody("array", schema)


def text(media_type: str) -> SuccessBody:
    """Declare an answer that is a text of this media type."""
    return SuccessBody("text", media_type=media_type)


EMPTY = SuccessBody("empty")


@dataclass(frozen=True, slots=True)
class Operation:
    """A route. `refuses` lists its own error codes with their status: "409 slug_already_taken", or "404" for a refusal
    without a body.

    `takes` is the schema of the body and `asks` that of the query; `gives` is the body of a successful answer.
    `takes_as` and `gives_as` are media types that the two bodies may have in addition to the usual one. An answer with
    a status in `gives_at` has the shape of a successful one, an answer with a status in `empty_at` has no body.
    `samples` are examples, by media type, of answers that are not JSON records of this API.
    An answer that `shows_secret` is never compressed (`api.edge.compression`).
    `deprecated_since` announces the removal, in the Deprecation header and in the description.
    `may_lag` routes read at the replica, if there is one: the whole answer, or the pieces of a streamed file. Their
    transactions are read-only, which the database enforces, and decide nothing about money.
    A GET is read-only too, unless it `writes` or is a page: without a transaction each statement is one round trip.
    A route that is not `is_described` is not part of the interface: the pages of people who signed in.
    """

    guard: Guard
    gives: SuccessBody = EMPTY
    status: int = 200
    takes: Schema | None = None
    asks: Schema | None = None
    refuses: tuple[str, ...] = field(default=())
    takes_as: tuple[str, ...] = ()
    gives_as: tuple[str, ...] = ()
    gives_at: tuple[int, ...] = ()
    empty_at: tuple[int, ...] = ()
    samples: Mapping[str, object] = field(default_factory=dict)
    shows_secret: bool = False
    deprecated_since: datetime | None = None
    may_lag: Lag = "nothing"
    writes: bool = False
    is_described: bool = True


View = TypeVar("View", bound=Callable[..., Any])


def operation(guard: Guard, gives: SuccessBody = EMPTY, **declared: Any) -> Callable[[View], View]:
    """Declare a route: `declared` are fields of Operation. The guard runs before the view."""
    about = Operation(guard, gives, **declared)

    def wrap(view: View) -> View:
        @functools.wraps(view)
        def run_guarded(*args: Any, **kwargs: Any) -> Any:
            g.operation = about
            if about.deprecated_since is not None:
                after_this_request(functools.partial(_announce, about.deprecated_since))
            guards.check(about.guard)
            return request_reads.run_view(
                functools.partial(view, *args, **kwargs),
                may_lag=about.may_lag == "answer",
                writes=about.writes or not about.is_described,
            )

        run_guarded.operation = about  # type: ignore[attr-defined]  # read by the description and by the tests
        return run_guarded  # type: ignore[return-value]  # functools.wraps keeps the view's signature

    return wrap


def current_operation() -> Operation:
    """Return the operation of this request."""
    current: Operation = g.operation
    return current


def _announce(since: datetime, response: Response) -> Response:
    response.headers["Deprecation"] = f"@{int(since.astimezone(UTC).timestamp())}"
    return response
