"""The webhooks of the service for OpenAPI: for each event type its envelope, its data and a sample."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from api.description.fields import Described, Describer
from api.edge import resources
from domain.webhooks import events, samples
from schemas.webhooks.event_data import BY_TYPE

_SAMPLE_EVENT = UUID("0190f3a2-6c1b-7c0e-9a57-3f0c5f1f7a11")
_SAMPLE_ORGANIZATION = "9d1c7e52-3b4a-4f60-8d7e-1a2b3c4d5e99"
_SAMPLE_TIME = "2026-05-18T09:12:44.000Z"

#: The headers of an event, with their meaning and an example.
HEADERS: Mapping[str, tuple[str, str]] = {
    "X-Service-Signature": (
        "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>` with the endpoint's secret.",
        "t=1789000000,v1=9f2c8d51b0f1c1f7f8b8ab7c2f0b6d5c4e3a29180706f5e4d3c2b1a09f8e7d6c",
    ),
    "X-Service-Timestamp": ("Unix seconds, the `t` of the signature.", "1789000000"),
    "X-Service-Event": ("The event type, as in the body.", "conversion.created"),
    "X-Service-Delivery-Id": (
        "The same on every attempt; use it to recognize a repeated event.",
        "5a2f8c1e-0b7d-4c39-a6e4-1d9f3b5c7e88",
    ),
}


def webhooks(describer: Describer) -> Described:
    """Return the webhooks by event type. Their schemas become components."""
    return {type: {"post": _webhook(type, describer)} for type in events.TYPES}


def sample_event(type: str) -> dict[str, Any]:
    """Return a sample event of a type with its envelope."""
    data = samples.SAMPLES.get(type) or samples.OTHERS[type]
    return {
        "id": events.event_id(_SAMPLE_EVENT),
        "type": type,
        "createdAt": _SAMPLE_TIME,
        "organizationId": _SAMPLE_ORGANIZATION,
        "data": data,
    }


def _webhook(type: str, describer: Describer) -> Described:
    data = describer.answer(BY_TYPE[type]())
    about = describer.resolve(data)["description"]
    return {
        "operationId": f"on{_camel(type)}",
        "summary": type,
        "description": f"{about} Answer with any 2xx; anything else is retried.",
        "tags": [resources.EVENTS.tag],
        "security": [],
        "parameters": [_header(name, *texts) for name, texts in HEADERS.items()],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": _envelope(type, data, describer), "example": sample_event(type)}
            },
        },
        "responses": {
            "2XX": {"description": "Accepted. The body is ignored."},
            "4XX": {"description": "Retried; after 429 at the time in `Retry-After`."},
            "5XX": {"description": "Retried; after 503 at the time in `Retry-After`."},
        },
    }


def _envelope(type: str, data: Described, describer: Describer) -> Described:
    event = sample_event(type)
    described: dict[str, tuple[Described, str]] = {
        "id": ({"type": "string"}, "The id of the event; the same for every endpoint that receives it."),
        "type": ({"type": "string", "enum": [type]}, "The event type."),
        "createdAt": ({"type": "string", "format": "date-time"}, "The time of the event."),
        "organizationId": ({"type": "string", "format": "uuid"}, "The organization of the event."),
    }
    properties: Described = {
        name: {**schema, "description": sentence, "examples": [event[name]]}
        for name, (schema, sentence) in described.items()
    }
    return describer.add(
        f"{_camel(type)}Event",
        {
            "type": "object",
            "description": f"The body of a {type} webhook.",
            "required": [*properties, "data"],
            "properties": properties | {"data": data},
        },
    )


def _header(name: str, sentence: str, example: str) -> Described:
    schema = {"type": "string", "examples": [example]}
    return {"name": name, "in": "header", "required": True, "description": sentence, "schema": schema}


def _camel(type: str) -> str:
    return "".join(word.capitalize() for word in type.replace(".", "_").split("_"))
