"""Calls the operation behind a tool as the caller of the outer request, and reads its answer.

The answer equals that of the REST interface, because the same operation answers (`api.edge.internal_requests`).
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
from api.mcp.operation_calls.arguments import PlacedArguments
from api.mcp.tools import withheld_fields
from api.mcp.tools.binding import BoundTool
from domain.refusals import Refused
from domain.webhooks import signing

# Code and message of a refusal without a body.
_BODILESS_REFUSALS: Mapping[int, tuple[str, str]] = {
    403: ("forbidden", "This caller is not allowed to do this."),
    404: ("not_found", "This does not exist."),
    429: ("rate_limited", "Too many requests. Wait a minute, then continue."),
}
_FAULT = ("server_error", "Something went wrong on our side.")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """An operation's answer: its data, or the reason of a refusal, in one shape; `bytes` is its length."""

    is_refusal: bool
    data: Mapping[str, Any]
    bytes: int = 0


class OperationClient:
    """Calls operations for one request of a client with the name `client`. `count` is the number of calls so far.

    `via` is the interface that the audit log names. The caller is a program, or a person at a page or with a token.
    """

    def __init__(self, via: str = "mcp", client: str | None = None) -> None:
        self.count = 0
        self.client = client
        self._via = via
        self._key = callers.read_bearer(request, takes_legacy_header=True) or ""

    def call(self, bound: BoundTool, placed: PlacedArguments, *, idempotency_key: str | None = None) -> ToolAnswer:
        """Return the answer of the operation. Raises Refused (401) when the key was revoked meanwhile."""
        self.count += 1
        caller = guards.caller()
        carried = {**integrations.internal_environ(caller), **persons.internal_environ(request.environ)}
        headers = {} if carried else {"Authorization": f"Bearer {self._key}"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if bound.tool.needs_signature:
            headers["X-Service-Signature"] = _signature(caller, placed.body)
        answer = internal_requests.send(
            bound.tool.endpoint,
            path=placed.path,
            query=placed.encoded_query,
            body=placed.body,
            headers=headers,
            extra_environ=carried,
            channel=Channel(self._via, self.client),
        )
        if answer.status_code == 401:
            raise integrations.refuse_unknown() if caller.is_integration else Refused(401)
        return _without_secrets(bound, answer_from_response(answer))


def _without_secrets(bound: BoundTool, answer: ToolAnswer) -> ToolAnswer:
    if answer.is_refusal or not bound.withheld:
        return answer
    return replace(answer, data=withheld_fields.remove_withheld_fields(bound.withheld, answer.data))


def answer_from_refusal(refusal: Refused) -> ToolAnswer:
    """Return a refusal as the answer of an operation."""
    return ToolAnswer(True, errors.envelope(refusal))


def _signature(caller: Caller, body: bytes) -> str:
    if caller.kind != "api_key":
        raise Refused(
            403,
            "forbidden",
            "This request must be signed with the secret of an API key, and a token has none. Use an API key.",
        )
    now_s = int(clock.now().timestamp())
    secret = callers.unseal_signing_secret(caller)
    return f"t={now_s},sig={signing.sign(secret=secret, timestamp_s=now_s, body=body)}"


def answer_from_response(answer: Response) -> ToolAnswer:
    """Return the response of a route as a tool's answer."""
    text = answer.get_data()
    data = orjson.loads(text) if text else None
    if answer.status_code < 400:
        return ToolAnswer(False, _as_object(data), len(text))
    if not isinstance(data, dict):
        code, message = _BODILESS_REFUSALS.get(answer.status_code, _FAULT)
        return ToolAnswer(True, {"error": code, "message": message, "doc_url": errors.doc_url(code)})
    if "errors" in data:
        problem = {"error": "invalid_request", "message": data["title"]}
        problem |= {name: data[name] for name in ("errorCount", "errors", "doc_url")}
        return ToolAnswer(True, problem | {"field": next(iter(data["errors"]), "body")})
    return ToolAnswer(True, data)


def _as_object(data: Any) -> Mapping[str, Any]:
    if data is None:
        return {"done": True}
    return data if isinstance(data, dict) else {"items": data}
