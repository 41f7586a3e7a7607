"""The OpenAPI 3.1 document, from what the routes declare.

What JSON Schema cannot say of a route (scope, role, plan, rate limit) stands in fields that begin with `x-`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api.edge.described_fields import Describer
from api.edge.guards import Guard
from api.edge.operations import Operation

_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")

_INTRODUCTION = (
    "Money is whole minor units of the currency beside it (cents for USD, yen for JPY, thousandths for KWD). "
    "Times are ISO 8601 in UTC. Ids are UUIDs. Unknown fields are ignored in requests and to be expected in answers. "
    "A refusal has a stable `error` to branch on and a `message` for people; a malformed request is answered with "
    "problem details that name each field; 401 and 429 have no body. Repeat a POST, PATCH or PUT safely with an "
    "`Idempotency-Key`: for 60 minutes the same key with the same body gets the first answer again."
)

_SECURITY: dict[str, list[dict[str, list[str]]]] = {
    "brand": [{"apiKey": []}, {"dashboardToken": []}],
    "dashboard": [{"dashboardToken": []}],
    "affiliate": [{"affiliateToken": []}],
    "signed": [{"apiKey": []}],
    "public": [],
}
_SCHEMES = {
    "apiKey": {"type": "http", "scheme": "bearer", "description": "An API key of the brand."},
    "dashboardToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A session of a person at the brand's dashboard.",
    },
    "affiliateToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A session of an affiliate.",
    },
}
_REASONS = {
    400: "Malformed, or refused by a rule.",
    401: "Nobody we know. No body.",
    402: "The plan does not include this.",
    403: "Known, and not allowed to.",
    404: "There is no such thing in this organization.",
    409: "It does not fit what is there.",
    410: "It was there and is over.",
    413: "The body is too large.",
    415: "Not the media type that is taken.",
    422: "Understood, and impossible.",
    429: "Too many requests. No body; come back later.",
    503: "The database cannot be reached; repeat the same request.",
}


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the application: its rule, methods, the name, docstring and resource of its view, its operation."""

    rule: str
    methods: tuple[str, ...]
    name: str
    doc: str
    tag: str
    operation: Operation


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """Return the whole document; addresses in the order of the routes."""
    describer = Describer()
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        described = paths.setdefault(_PARAMETER.sub(_braced, route.rule), {})
        for method in route.methods:
            described[method.lower()] = _described(route, method, describer)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Finderfee", "version": "1", "description": _INTRODUCTION},
        "paths": paths,
        "components": {"securitySchemes": _SCHEMES, "schemas": _COMMON_SCHEMAS},
    }


def _described(route: Route, method: str, describer: Describer) -> dict[str, Any]:
    about, guard = route.operation, route.operation.guard
    summary, _, more = " ".join(route.doc.split()).partition(". ")
    # One view may stand at several addresses.
    place = re.sub(r"[^a-z0-9]+", "_", route.rule.lower()).strip("_")
    described: dict[str, Any] = {
        "operationId": f"{route.name}_{method.lower()}_{place}",
        "summary": summary.removesuffix("."),
        "tags": [route.tag],
        "security": _SECURITY[guard.audience],
        "parameters": _parameters(route, method, describer),
        "responses": _responses(about, describer),
        **_extensions(guard),
    }
    if more:
        described["description"] = more
    if about.takes is not None:
        content = {"application/json": {"schema": describer.body(about.takes)}}
        described["requestBody"] = {"content": content | {kind: {} for kind in about.takes_as}}
    if about.deprecated_since is not None:
        described["deprecated"] = True
    return described


def _parameters(route: Route, method: str, describer: Describer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": _camel(name), "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(route.rule)
    ]
    if route.operation.asks is not None:
        found += describer.parameters(route.operation.asks)
    # An affiliate is of no one tenant, and answers are kept by tenant.
    if method in ("POST", "PATCH", "PUT") and route.operation.guard.audience not in ("public", "affiliate"):
        found.append(_header("Idempotency-Key", "Makes a repetition safe for 60 minutes.", maxLength=255))
    if route.operation.guard.audience == "signed":
        signature = "`t=<unix seconds>,sig=<hex>`: HMAC-SHA256 of `<t>.<raw body>` with the key's signing secret."
        found.append(_header("X-Service-Signature", signature) | {"required": True})
    return found


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string", **schema},
    }


def _extensions(guard: Guard) -> dict[str, Any]:
    is_brand = guard.audience in ("brand", "dashboard")
    found = {
        "x-callers": guard.audience,
        "x-scope": guard.scope if guard.audience in ("brand", "signed") else None,
        "x-role": str(guard.least_role) if is_brand else None,
        "x-verified-email": True if guard.verified_email else None,
        "x-needs-login": True if guard.needs_login else None,
        "x-plan": str(guard.plan) if guard.plan else None,
        "x-needs-active-subscription": True if guard.needs_active_subscription else None,
        "x-rate-limit": guard.bucket,
    }
    return {name: value for name, value in found.items() if value is not None}


def _responses(about: Operation, describer: Describer) -> dict[str, Any]:
    success = _success(about, describer)
    found = {str(about.status): success}
    codes: dict[int, list[str]] = {}
    for refusal in about.refuses:
        number, _, code = refusal.partition(" ")
        codes.setdefault(int(number), []).append(code)
    if about.guard.hides_role:
        codes.setdefault(403, []).append("")
    if about.guard.needs_login:
        codes.setdefault(403, []).append("interactive_session_required")
    for status in sorted({*codes, *_expected(about)}):
        found[str(status)] = _refusal(status, codes.get(status, []), is_page=about.gives.media_type == "text/html")
    for status in about.gives_at:
        found[str(status)] = success | {"description": _REASONS[status]}
    return found


def _expected(about: Operation) -> set[int]:
    guard = about.guard
    found = {400, 413, 503}
    if guard.bucket:
        found.add(429)
    if guard.audience != "public":
        found |= {401, 403, 409}
    if guard.plan or guard.needs_active_subscription:
        found.add(402)
    return found | {404}


def _success(about: Operation, describer: Describer) -> dict[str, Any]:
    gives = about.gives
    if gives.shape == "empty":
        return {"description": "Done. No body."}
    if gives.schema is None:
        return {"description": "The text.", "content": {gives.media_type: {"schema": {}}}}
    described = describer.answer(gives.schema)
    if gives.shape == "page":
        described = {
            "type": "object",
            "required": ["items", "nextCursor", "hasMore"],
            "properties": {
                "items": {"type": "array", "items": described},
                "nextCursor": {"type": ["string", "null"]},
                "hasMore": {"type": "boolean"},
            },
        }
    elif gives.shape == "array":
        described = {"type": "array", "items": described}
    content: dict[str, Any] = {"application/json": {"schema": described}}
    return {"description": "Done.", "content": content | {kind: {} for kind in about.gives_as}}


def _refusal(status: int, codes: list[str], *, is_page: bool) -> dict[str, Any]:
    described: dict[str, Any] = {"description": _REASONS[status]}
    if status in (401, 429):
        return described
    if "" in codes:  # some have a body and some have none, which JSON Schema cannot say
        return described | {"description": f"{_REASONS[status]} There may be no body."}
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    if is_page:
        content["text/html"] = {}
    if status == 400:
        content["application/problem+json"] = {"schema": {"$ref": "#/components/schemas/Problem"}}
    if codes:
        described["x-codes"] = sorted(codes)
        described["description"] += f" Codes: {', '.join(sorted(codes))}."
    return described | {"content": content}


def _braced(found: re.Match[str]) -> str:
    return f"{{{_camel(found[1])}}}"


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


_COMMON_SCHEMAS = {
    "Refusal": {
        "type": "object",
        "required": ["error", "message"],
        "properties": {
            "error": {"type": "string", "description": "The code to branch on."},
            "message": {"type": "string", "description": "For people; it may change."},
            "field": {"type": "string", "description": "The input at fault."},
        },
    },
    "Problem": {
        "type": "object",
        "required": ["type", "title", "status", "errors"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"const": 400},
            "errors": {"type": "object", "description": "What is wrong, by field."},
        },
    },
}
