"""The OpenAPI 3.1 document, built from the declarations of the routes.

Properties of a route that JSON Schema cannot express (scope, role, plan, rate limit) are in fields that begin with
`x-`, and in the description for people.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.access.guards import Guard
from api.description import events, examples, responses
from api.description.fields import Described, Describer, parameter
from api.edge import resources
from api.edge.operations import Operation

_PARAMETER = re.compile(r"<(?:[a-z]+:)?([a-z_]+)>")

_INTRODUCTION = """\
- **Money** is whole minor units of the currency next to it: cents for USD, yen for JPY, thousandths for KWD.
- **Times** are ISO 8601 in UTC, **ids** are UUIDs.
- **Unknown fields** are ignored in requests; expect new fields in responses.
- **A refusal** has a stable `error` to branch on and a `message` for people. The response to a malformed request is \
problem details: the first 20 errors by field, and their number in `errorCount`. 401 and 429 have no body.
- **Repeat** a POST, PATCH or PUT safely with an `Idempotency-Key`: for 60 minutes the same key with the same body \
returns the first response again.
- **Lists** are pages of `items`; send `nextCursor` as `cursor` for the next one, while `hasMore`."""

_Security = list[dict[str, list[str]]]
_SECURITY: dict[str, _Security] = {
    "brand": [{"apiKey": []}, {"dashboardToken": []}],
    "dashboard": [{"dashboardToken": []}],
    "affiliate": [{"affiliateToken": []}],
    "embed": [{"embedToken": []}],
    "operator": [{"operatorToken": []}],
    "signed": [{"apiKey": [], "signature": []}],
    "integration": [{"apiKey": []}],
    "public": [],
}
_SCHEMES = {
    "apiKey": {"type": "http", "scheme": "bearer", "description": "An API key of the brand."},
    "dashboardToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A person's session at the brand's dashboard.",
    },
    "affiliateToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A session of an affiliate.",
    },
    "embedToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token that a brand created for one affiliate, for the embedded page only.",
    },
    "operatorToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A session of an operator, from their identity provider.",
    },
}
_SIGNATURE = "`t=<unix seconds>,sig=<hex>`: HMAC-SHA256 of `<t>.<raw body>` with the key's signing secret."
_SAMPLE_SIGNATURE = "t=1789000000,sig=9f2c8d51b0f1c1f7f8b8ab7c2f0b6d5c4e3a29180706f5e4d3c2b1a09f8e7d6c"
_SCHEMES |= {
    "signature": {"type": "apiKey", "in": "header", "name": "X-Service-Signature", "description": _SIGNATURE},
    "legacyApiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Service-Api-Key",
        "description": "An API key of the brand, for older servers. `Authorization` takes precedence.",
    },
}
_CALLERS = {
    "brand": "an API key with the scope `{scope}`, or a person at the dashboard with the role {role}",
    "dashboard": "a person at the dashboard with the role {role}; an API key cannot",
    "affiliate": "a signed-in affiliate",
    "embed": "an affiliate on their brand's site, with an embed token",
    "operator": "a signed-in operator of this installation",
    "signed": "an API key with the scope `{scope}` and a signature with its signing secret",
    "integration": "a program with an API key; a person's session cannot",
    "public": "anyone",
}


@dataclass(frozen=True, slots=True)
class Route:
    """A route of the application: its rule, methods, the name, docstring and blueprint of its view, its operation."""

    rule: str
    methods: tuple[str, ...]
    name: str
    doc: str
    blueprint: str
    operation: Operation

    @property
    def path(self) -> str:
        """Return the path in OpenAPI's notation."""
        return _PARAMETER.sub(lambda match: f"{{{camel_case(match[1])}}}", self.rule)

    @property
    def resource(self) -> resources.Resource:
        """Return the resource that the route belongs to."""
        return resources.find_resource(self.blueprint)


@dataclass(frozen=True, slots=True)
class ServicePlace:
    """The address of the service, and the requests per minute of each bucket."""

    base_url: str
    limits_per_min: Mapping[str, int]


def build_document(routes: Sequence[Route], place: ServicePlace) -> Described:
    """Return the whole document; paths in the order of the routes."""
    describer = Describer()
    for name, schema in responses.SCHEMAS.items():
        describer.add(name, schema)
    paths: dict[str, Described] = {}
    first_of: dict[str, str] = {}
    for route in routes:
        first = first_of.setdefault(f"{route.blueprint}.{route.name}", route.rule)
        for method in route.methods:
            described = _operation(route, method, describer, place)
            paths.setdefault(route.path, {})[method.lower()] = {
                "operationId": operation_id(route.name, route.rule, first),
                **described,
            }
    about = {tag.tag: tag for tag in (*resources.ALL, *(route.resource for route in routes), resources.EVENTS)}
    webhooks = events.webhooks(describer)
    return {
        "openapi": "3.1.0",
        "info": _info(place),
        "servers": [{"url": place.base_url, "description": "This installation."}],
        "externalDocs": {"url": f"{place.base_url}/docs", "description": "The documentation for people."},
        "tags": [{"name": tag.tag, "x-displayName": tag.heading, "description": tag.about} for tag in about.values()],
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": _SCHEMES,
            "responses": responses.shared_responses(),
            "schemas": dict(sorted(describer.components.items())),
        },
    }


def operation_id(name: str, rule: str, first: str) -> str:
    """Return the id of an operation: its view's name in camelCase, such as listConversions.

    A view with several paths appends the words that its path has and the `first` path lacks: refundSaleV1.
    """
    added = [word for word in re.findall(r"[a-z0-9]+", rule) if word not in re.findall(r"[a-z0-9]+", first)]
    return camel_case("_".join([name, *added]))


def _info(place: ServicePlace) -> Described:
    return {
        "title": "Finderfee",
        "version": "1",
        "summary": "Affiliate programs: clicks and sales in, commissions priced, payouts and webhooks out.",
        "description": _INTRODUCTION,
        "contact": {"name": "The operator of this installation", "url": place.base_url},
        # The owner has not chosen a license yet: until then all rights are reserved.
        "license": {"name": "Proprietary", "identifier": "LicenseRef-Proprietary"},
    }


def _operation(route: Route, method: str, describer: Describer, place: ServicePlace) -> Described:
    about, guard = route.operation, route.operation.guard
    summary, _, more = " ".join(route.doc.split()).partition(". ")
    described: Described = {
        "summary": summary.removesuffix("."),
        "description": f"{more}\n\n{_access(guard, place)}".strip(),
        "tags": [route.resource.tag],
        "security": _security(guard),
        "parameters": _parameters(route, method, describer),
        "responses": responses.describe_responses(about, describer),
        **_extensions(guard),
    }
    if about.takes is not None:
        schema = describer.body(about.takes)
        example = examples.compose(schema, describer.components, only_required=True)
        content: Described = {"application/json": {"schema": schema, "example": example}}
        # A page that must avoid a preflight request sends the same as plain text.
        as_text = {"example": json.dumps(example)}
        others = {
            kind: {"schema": responses.raw_content(kind), **(as_text if kind == "text/plain" else {})}
            for kind in about.takes_as
        }
        is_needed = bool(describer.resolve(schema).get("required"))
        described["requestBody"] = {"required": is_needed, "content": content | others}
    if about.deprecated_since is not None:
        described["deprecated"] = True
    return described


def _security(guard: Guard) -> _Security:
    legacy: _Security = [{"legacyApiKey": [], "signature": []}] if guard.takes_legacy_header else []
    return _SECURITY[guard.audience] + legacy


def _parameters(route: Route, method: str, describer: Describer) -> list[Described]:
    parameters = [_path_parameter(camel_case(name)) for name in _PARAMETER.findall(route.rule)]
    if route.operation.asks is not None:
        parameters += describer.parameters(route.operation.asks)
    # An affiliate belongs to no single tenant, and stored responses belong to a tenant.
    if method in ("POST", "PATCH", "PUT") and route.operation.guard.audience not in ("public", "affiliate"):
        schema = {"type": "string", "maxLength": 255, "examples": ["3f0c5f1f-7a11-4c0e-9a57-0d8f5d2e6c1b"]}
        parameters.append(_header("Idempotency-Key", "Makes it safe to repeat the request for 60 minutes.", schema))
    if route.operation.guard.audience == "signed":
        schema = {"type": "string", "examples": [_SAMPLE_SIGNATURE]}
        parameters.append(_header("X-Service-Signature", _SIGNATURE, schema) | {"required": True})
    return parameters


def _path_parameter(name: str) -> Described:
    schema = {"type": "string", "format": "uuid"} if name.endswith("Id") else {"type": "string"}
    return parameter(name, "path", schema, owner="path", required=True)


def _header(name: str, description: str, schema: Described) -> Described:
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _access(guard: Guard, place: ServicePlace) -> str:
    role = "Owner" if guard.least_role == "Owner" else f"{guard.least_role} or a higher one"
    sentences = [f"For {_CALLERS[guard.audience].format(scope=guard.scope, role=role)}."]
    if guard.needs_login:
        sentences.append("Needs an interactive session: a person must have logged in.")
    if guard.fresh_s is not None:
        sentences.append(f"A person must have logged in within the last {guard.fresh_s // 60} minutes.")
    if guard.verified_email:
        sentences.append("Needs a verified email address.")
    if guard.plan:
        subject = "The brand" if guard.audience == "embed" else "A key"
        sentences.append(f"{subject} needs the {guard.plan} plan or a higher one.")
    if guard.needs_active_subscription:
        sentences.append("Needs an active paid subscription.")
    if guard.bucket:
        sentences.append(f"At most {place.limits_per_min[guard.bucket]} requests a minute (`{guard.bucket}`).")
    return " ".join(sentences)


def _extensions(guard: Guard) -> Described:
    is_brand = guard.audience in ("brand", "dashboard")
    extensions: dict[str, Any] = {
        "x-callers": guard.audience,
        "x-scope": guard.scope if guard.audience in ("brand", "signed") else None,
        "x-role": str(guard.least_role) if is_brand else None,
        "x-verified-email": True if guard.verified_email else None,
        "x-needs-login": True if guard.needs_login else None,
        "x-fresh-login-s": guard.fresh_s,
        "x-plan": str(guard.plan) if guard.plan else None,
        "x-needs-active-subscription": True if guard.needs_active_subscription else None,
        "x-rate-limit": guard.bucket,
    }
    return {name: value for name, value in extensions.items() if value is not None}


def camel_case(name: str) -> str:
    """Return a snake_case name in camelCase."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
