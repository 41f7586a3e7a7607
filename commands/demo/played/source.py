"""The base class of a played source: routes over an account, and the requests and responses that it exchanges."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from commands.demo.played.account import PlayedAccount


@dataclass(frozen=True, slots=True)
class PlayedRequest:
    """A request: `path` without the query, `headers` by lower-case name, `at` the monotonic time in seconds."""

    method: str
    path: str
    query: Mapping[str, Sequence[str]]
    headers: Mapping[str, str]
    at: float

    def value(self, name: str, default: str = "") -> str:
        """Return the first value of a query parameter."""
        return self.query[name][0] if self.query.get(name) else default

    def values(self, name: str) -> Sequence[str]:
        """Return all values of a query parameter."""
        return self.query.get(name, ())


@dataclass(frozen=True, slots=True)
class PlayedResponse:
    """A response: `body` is a JSON value, or bytes that are sent as they are. `is_cut`: the connection is closed.

    A cut response sends `body` if it is bytes, with the Content-Length of its headers, and then closes.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False


class PlayedSource(ABC):
    """A source: each route is a pattern of the whole path, and the method that answers it under the account's lock.

    The method receives the request and the groups of the pattern.
    """

    #: Scheme, host and port are the server's; the path of the source's API begins every route.
    path: ClassVar[str] = ""
    routes: ClassVar[Mapping[str, str]] = {}

    def __init__(self, account: PlayedAccount) -> None:
        self.account = account

    @abstractmethod
    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether the request has the account's credentials."""

    def refuse(self, request: PlayedRequest) -> PlayedResponse:
        """Return the response to wrong credentials."""
        return PlayedResponse({"error": "unauthorized"}, 401)

    def miss(self, request: PlayedRequest) -> PlayedResponse:
        """Return the response to an unknown path."""
        return PlayedResponse({"error": "not found"}, 404)

    def answer(self, request: PlayedRequest) -> PlayedResponse:
        """Return the response to a request."""
        for pattern, name in self.routes.items():
            match = re.fullmatch(re.escape(self.path) + pattern, request.path)
            if match and request.method == "GET":
                if not self.is_authorized(request):
                    return self.refuse(request)
                handle: Callable[..., PlayedResponse] = getattr(self, name)
                with self.account.lock:
                    return handle(request, *match.groups())
        return self.miss(request)
