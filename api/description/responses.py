"""The responses of an operation for OpenAPI: its success and all its refusals."""

from collections.abc import Mapping
from dataclasses import replace

from api.description import examples
from api.description.fields import Described, Describer, reference
from api.edge.operations import Operation
from schemas import refusals

REASONS = {
    400: "The request is malformed or breaks a rule.",
    401: "The caller is not authenticated. No body.",
    402: "The plan does not include this.",
    403: "The caller is not allowed to do this.",
    404: "This does not exist in this organization.",
    409: "The request conflicts with the current state.",
    410: "This existed and is over.",
    413: "The body is too large.",
    415: "The media type is not accepted.",
    422: "The request is well-formed, and cannot be done.",
    429: "Too many requests. No body; try again later.",
    503: "The database cannot be reached. Repeat the same request.",
}
#: The component names of refusals that have no more information than their status.
NAMES = {
    400: "Malformed",
    401: "Unauthorized",
    402: "PlanRequired",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    413: "TooLarge",
    429: "TooManyRequests",
    503: "Unavailable",
}
#: Codes that any operation may answer; no operation declares them. The responses of 401 and 429 have no body: for these
#: statuses the code only names the paragraph of /docs/errors.
EDGE_CODES: Mapping[int, tuple[str, ...]] = {
    400: ("bad_request", "idempotency_key_invalid", "invalid_request", "malformed_request"),
    401: ("unauthorized",),
    402: ("plan_tier_required", "paid_plan_required"),
    403: ("forbidden", "email_verification_required"),
    404: ("not_found",),
    405: ("method_not_allowed",),
    408: ("request_timeout",),
    409: ("idempotency_conflict",),
    413: ("payload_too_large",),
    414: ("address_too_long",),
    417: ("expectation_failed",),
    429: ("rate_limited",),
    431: ("headers_too_large",),
    500: ("server_error",),
    501: ("unsupported_transfer_coding",),
    503: ("temporarily_unavailable", "request_deadline_exceeded"),
}
#: Codes that only a tool call of an agent has.
TOOL_CODES = ("confirm_token_invalid", "declined_by_user", "unknown_argument", "unknown_tool")

_DOC_URL: Described = {
    "type": "string",
    "description": "The page that says what happened and what to do.",
    "examples": ["https://affiliates.example/docs/errors#not_found"],
}
_LOCATION: Described = {
    "description": "The address to go to.",
    "schema": {"type": "string", "examples": ["https://acme.example/knives?via=robin-vale"]},
}
_CHALLENGE: Described = {
    "description": "The kind of credential; with `error` if one was sent and refused.",
    "schema": {"type": "string", "examples": ['Bearer realm="finderfee", error="invalid_token"']},
}

SCHEMAS: Mapping[str, Described] = {
    "Refusal": {
        "type": "object",
        "description": "The reason for a refusal.",
        "required": ["error", "message", "doc_url"],
        "properties": {
            "error": {"type": "string", "description": "The code to branch on.", "examples": ["not_found"]},
            "message": {
                "type": "string",
                "description": "For people. It may change.",
                "examples": ["There is no program in this organization."],
            },
            "field": {"type": "string", "description": "The invalid input.", "examples": ["amountCents"]},
            "doc_url": _DOC_URL,
        },
    },
    "Problem": {
        "type": "object",
        "description": "A malformed request, described field by field (problem details, RFC 9457).",
        "required": ["type", "title", "status", "errorCount", "errors", "doc_url"],
        "properties": {
            "type": {"type": "string", "description": "Always `about:blank`.", "examples": ["about:blank"]},
            "title": {
                "type": "string",
                "description": "For people.",
                "examples": ["One or more fields of the request are malformed."],
            },
            "status": {"type": "integer", "description": "The status, again.", "examples": [400]},
            "errorCount": {"type": "integer", "description": "The number of errors.", "examples": [1]},
            "errors": {
                "type": "object",
                "additionalProperties": {},
                "description": "The first 20 errors, by field.",
                "examples": [{"name": ["Missing data for required field."]}],
            },
            "doc_url": _DOC_URL | {"examples": ["https://affiliates.example/docs/errors#invalid_request"]},
        },
    },
}
_PROBLEM = examples.compose(SCHEMAS["Problem"], {})


def describe_responses(about: Operation, describer: Describer) -> Described:
    """Return the responses of an operation by status."""
    success = _describe_success(about, describer)
    responses = {str(about.status): success}
    codes = _codes_by_status(about)
    is_page = about.gives.media_type == "text/html"
    for status in sorted({*codes, *_common_statuses(about)}):
        own = codes.get(status)
        if own or is_page:
            responses[str(status)] = _describe_refusal(status, own or [], is_page=is_page)
        else:
            responses[str(status)] = {"$ref": f"#/components/responses/{NAMES[status]}"}
    for status in about.empty_at:
        responses[str(status)] = {"description": "Accepted. No body."}
    for status in about.gives_at:
        described = _describe_success(replace(about, status=status), describer)
        responses[str(status)] = described | {"description": REASONS[status]} if status in REASONS else described
    return responses


def shared_responses() -> Described:
    """Return the refusals that have no more information than their status."""
    return {name: _describe_refusal(status, [], is_page=False) for status, name in NAMES.items()}


def raw_content(media_type: str) -> Described:
    """Return the schema of content that is not a record of the interface."""
    if media_type == "application/json":
        return {"type": "object"}
    return {"type": "string"} if media_type.startswith("text/") else {"type": "string", "format": "binary"}


def _codes_by_status(about: Operation) -> dict[int, list[str]]:
    codes: dict[int, list[str]] = {}
    for refusal in about.refuses:
        number, _, code = refusal.partition(" ")
        codes.setdefault(int(number), []).append(code)
    if about.guard.hides_role:
        codes.setdefault(403, []).append("")
    if about.guard.needs_login:
        codes.setdefault(403, []).append("interactive_session_required")
    if about.guard.fresh_s is not None:
        codes.setdefault(403, []).append("fresh_login_required")
    return codes


def _common_statuses(about: Operation) -> set[int]:
    guard = about.guard
    statuses = {400, 404, 413, 503}
    if guard.bucket:
        statuses.add(429)
    if guard.audience != "public":
        statuses |= {401, 403, 409}
    if guard.plan or guard.needs_active_subscription:
        statuses.add(402)
    return statuses


def _describe_success(about: Operation, describer: Describer) -> Described:
    gives = about.gives
    if 300 <= about.status < 400:
        return {"description": "A redirect to `Location`. No body.", "headers": {"Location": _LOCATION}}
    if gives.shape == "empty":
        return {"description": "Done. No body."}
    if gives.schema is None:
        return {
            "description": "The content.",
            "content": {kind: _raw_with_sample(about, kind) for kind in (about.gives.media_type, *about.gives_as)},
        }
    if gives.shape == "page":
        described = describer.page(gives.schema)
    elif gives.shape == "array":
        described = {"type": "array", "items": describer.answer(gives.schema)}
    else:
        described = describer.answer(gives.schema)
    example = examples.compose(described, describer.components)
    content: Described = {"application/json": {"schema": described, "example": example}}
    return {
        "description": "Done.",
        "content": content | {kind: _raw_with_sample(about, kind) for kind in about.gives_as},
    }


def _raw_with_sample(about: Operation, kind: str) -> Described:
    example = {"example": about.samples[kind]} if kind in about.samples else {}
    return {"schema": raw_content(kind), **example}


def _describe_refusal(status: int, codes: list[str], *, is_page: bool) -> Described:
    described: Described = {"description": REASONS[status]}
    if status == 401:
        return described | {"headers": {"WWW-Authenticate": _CHALLENGE}}
    if status == 429:
        return described
    if "" in codes:  # some have a body and some have none, which JSON Schema cannot express
        return described | {"description": f"{REASONS[status]} The body may be missing."}
    code = next(iter(sorted(codes) or EDGE_CODES.get(status, ("bad_request",))))
    code_example = code.replace("{gateway}", "stripe")
    example = {
        "error": code_example,
        "message": refusals.sentences().get(code, ""),
        "doc_url": f"https://affiliates.example/docs/errors#{code_example}",
    }
    content: Described = {"application/json": {"schema": reference("Refusal"), "example": example}}
    if is_page:
        content["text/html"] = {"schema": {"type": "string"}}
    if status == 400:
        content["application/problem+json"] = {"schema": reference("Problem"), "example": _PROBLEM}
    if codes:
        described["x-codes"] = sorted(codes)
        described["description"] += f" Codes: {', '.join(f'`{code}`' for code in sorted(codes))}."
    return described | {"content": content}
