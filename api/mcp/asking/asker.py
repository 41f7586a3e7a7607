"""Asks the operation behind a tool, as the caller of the outer request, and reads what it says.

The answer is the operation's own, because it is the operation that answers (`api.edge.internal_requests`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from flask import Response, request

from adapters import clock
from api.access import callers, guards, integrations, persons
from api.access.callers import Caller
from api.edge import errors, internal_requests
from api.edge.internal_requests import Channel
from api.mcp.asking.arguments import SentArguments
from api.mcp.tools import withheld
from api.mcp.tools.binding import BoundTool
from domain.refusals import Refused
from domain.webhooks import signing

# What a refusal without a body is called.
_UNSAID: Mapping[int, tuple[str, str]] = {
    403: ("forbidden", "This caller may not do it."),
    404: ("not_found", "There is no such thing."),
    429: ("rate_limited", "Too many requests: wait a minute, then go on."),
}
_FAULT = ("server_error", "Something went wrong on our side.")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What an operation answered: its data, or why it refused, in one shape; `bytes` is how long its answer was."""

    is_refusal: bool
    data: Mapping[str, Any]
    bytes: int = 0


class ToolAsker:
    """Asks operations for one request of a client, which calls itself `client`. `count` is how many it has asked.

    `via` is the door that the audit log names. The caller is a program, or a person at a page or with a token.
    """

    def __init__(self, via: str = "mcp", client: str | None = None) -> None:
        self.count = 0
        self.client = client
        self._via = via
        self._key = callers.read_bearer(request, takes_legacy_header=True) or ""

    def ask(self, bound: BoundTool, sent: SentArguments, *, idempotency_key: str | None = None) -> ToolAnswer:
        """Return what the operation answers. Raises Refused (401) when the key was revoked meanwhile."""
        self.count += 1
        caller = guards.caller()
        carried = {**integrations.internal_environ(caller), **persons.internal_environ(request.environ)}
        headers = {} if carried else {"Authorization": f"Bearer {self._key}"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if bound.tool.signed:
            headers["X-Service-Signature"] = _signature(caller, sent.body)
        answer = internal_requests.send(
            bound.tool.endpoint,
            path=sent.path,
            query=sent.encoded_query,
            body=sent.body,
            headers=headers,
            extra_environ=carried,
            channel=Channel(self._via, self.client),
        )
        if answer.status_code == 401:
            raise integrations.refuse_unknown() if caller.is_integration else Refused(401)
        return _without_secrets(bound, read(answer))


def _without_secrets(bound: BoundTool, answer: ToolAnswer) -> ToolAnswer:
    if answer.is_refusal or not bound.withheld:
        return answer
    return replace(answer, data=withheld.removed(bound.withheld, answer.data))


def refused(refusal: Refused) -> ToolAnswer:
    """Return a refusal of our own in the shape of an operation's."""
    return ToolAnswer(True, errors.envelope(refusal))


def _signature(caller: Caller, body: bytes) -> str:
    if caller.kind != "api_key":
        raise Refused(403, "forbidden", "This is signed with the secret of an API key, and a token has none.")
    now_s = int(clock.now().timestamp())
    secret = callers.unseal_signing_secret(caller)
    return f"t={now_s},sig={signing.sign(secret=secret, timestamp_s=now_s, body=body)}"


def read(answer: Response) -> ToolAnswer:
    """Return what a route answered, in the shape of a tool's answer."""
    text = answer.get_data()
    data = orjson.loads(text) if text else None
    if answer.status_code < 400:
        return ToolAnswer(False, _as_object(data), len(text))
    if not isinstance(data, dict):
        code, message = _UNSAID.get(answer.status_code, _FAULT)
        return ToolAnswer(True, {"error": code, "message": message})
    if "errors" in data:
        told = {"error": "invalid_request", "message": data["title"]}
        told |= {name: data[name] for name in ("errorCount", "errors")}
        return ToolAnswer(True, told | {"field": next(iter(data["errors"]), "body")})
    return ToolAnswer(True, data)


def _as_object(data: Any) -> Mapping[str, Any]:
    if data is None:
        return {"done": True}
    return data if isinstance(data, dict) else {"items": data}
