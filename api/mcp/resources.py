"""Resources: a guide to money, statuses and plans, and the campaigns."""

import re
from collections.abc import Mapping
from importlib import resources as files
from typing import Any

import orjson

from api.mcp.messages import INVALID_PARAMS, RpcError, text_member
from api.mcp.operation_calls import arguments, results
from api.mcp.requests import McpRequest

_GUIDE = "finderfee://guide"
_PROGRAM = re.compile(r"finderfee://programs/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)


def list_resources() -> list[dict[str, Any]]:
    """Return the resources with a fixed address."""
    return [
        {
            "uri": _GUIDE,
            "name": "guide",
            "title": "How Finderfee counts",
            "description": "Money, statuses and plans on one page.",
            "mimeType": "text/markdown",
        }
    ]


def list_templates() -> list[dict[str, Any]]:
    """Return the resource templates: one resource per campaign."""
    return [
        {
            "uriTemplate": "finderfee://programs/{programId}",
            "name": "program",
            "title": "A campaign",
            "description": "One campaign with its terms.",
            "mimeType": "application/json",
        }
    ]


def read_resource(request: McpRequest) -> Mapping[str, Any]:
    """Return the contents of a resource. Raises RpcError for an unknown one, or one that the caller may not read."""
    uri = text_member(request.params, "uri")
    if uri == _GUIDE:
        text = files.files("api").joinpath("templates/mcp/guide.md").read_text("utf-8")
        return _contents(uri, "text/markdown", text)
    match = _PROGRAM.fullmatch(uri)
    if match is None:
        raise _unknown_resource(uri, "There is no such resource.")
    bound = request.tools["get_program"]
    answer = request.operations.call(bound, arguments.place_arguments(bound, {"programId": match[1]}))
    if answer.is_refusal:
        raise _unknown_resource(uri, str(answer.data.get("message")))
    return _contents(uri, "application/json", orjson.dumps(results.remove_nulls(answer.data)).decode())


def _contents(uri: str, media_type: str, text: str) -> Mapping[str, Any]:
    return {"contents": [{"uri": uri, "mimeType": media_type, "text": text}]}


def _unknown_resource(uri: str, message: str) -> RpcError:
    return RpcError(INVALID_PARAMS, message, status=200, data={"uri": uri})
