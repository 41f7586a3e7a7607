"""What a route is: who may call it, what it takes, what it answers. One declaration that runs, and is described.

Requests are read with the declared schemas (`body.load`, `body.query`), so the description at
/api/openapi.json cannot say anything else than the service does.
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
from api.edge.reading import asked

Shape = Literal["object", "page", "array", "empty", "text"]
Lag = Literal["nothing", "answer", "pieces"]


@dataclass(frozen=True, slots=True)
class Gives:
    """What a successful answer holds: one object, a page of them, a flat array, nothing, or text of a media type."""

    shape: Shape
    schema: Schema | None = None
    media_type: str = "application/json"


def one(schema: Schema) -> Gives:
    """Return that the answer is one object."""
    return Gives("object", schema)


def page(schema: Schema) -> Gives:
    """Return that the answer is `{items, nextCursor, hasMore}`."""
    return Gives("page", schema)


def array(schema: Schema) -> Gives:
    """Return that the answer is a flat array."""
    return Gives("array", schema)


def text(media_type: str) -> Gives:
    """Return that the answer is a text of this media type."""
    return Gives("text", media_type=media_type)


EMPTY = Gives("empty")


@dataclass(frozen=True, slots=True)
class Operation:
    """A route. `refuses` names the codes of its own, each with its status: "409 slug_already_taken", or "404"
    alone for a refusal without a body.

    `takes_as` and `gives_as` are media types that the body and a successful answer may have besides the usual one;
    an answer with a status of `gives_at` has the shape of a successful one, and one of `empty_at` has no body.
    `samples` are examples, by media type, of answers that are no record of ours.
    An answer that `shows_secret` is never compressed (`api.edge.compression`).
    `deprecated_since` announces that it will go, in the Deprecation header and in the description.
    What `may_lag` is read where there is a replica to read at: the answer, or the pieces of a file that it is given
    out in. It only reads, which the database holds, and decides nothing about money.
    What is asked for by GET only reads as well, unless it `writes` or is a page: what it asks is one round trip each.
    What is not `is_described` is no part of the interface: the pages of people who signed in.
    """

    guard: Guard
    gives: Gives = EMPTY
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


def operation(guard: Guard, gives: Gives = EMPTY, **declared: Any) -> Callable[[View], View]:
    """Declare a route: `declared` are fields of Operation. Its guard runs before the view does."""
    about = Operation(guard, gives, **declared)

    def wrap(view: View) -> View:
        @functools.wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            g.operation = about
            if about.deprecated_since is not None:
                after_this_request(functools.partial(_announce, about.deprecated_since))
            guards.check(about.guard)
            return asked.run(
                functools.partial(view, *args, **kwargs),
                may_lag=about.may_lag == "answer",
                writes=about.writes or not about.is_described,
            )

        checked.operation = about  # type: ignore[attr-defined]  # read by the description and by the tests
        return checked  # type: ignore[return-value]  # functools.wraps keeps the view's signature

    return wrap


def current() -> Operation:
    """Return the operation of this request."""
    found: Operation = g.operation
    return found


def _announce(since: datetime, response: Response) -> Response:
    response.headers["Deprecation"] = f"@{int(since.astimezone(UTC).timestamp())}"
    return response
