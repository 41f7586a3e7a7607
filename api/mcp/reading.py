"""Resources: a page about money, statuses and plans, and what a campaign is."""

import re
from collections.abc import Mapping
from importlib import resources as files
from typing import Any

import orjson

from api.mcp.asking import arguments, results
from api.mcp.messages import INVALID_PARAMS, RpcError, a_text
from api.mcp.requests import McpRequest

_GUIDE = "finderfee://guide"
_PROGRAM = re.compile(r"finderfee://programs/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)


def listed() -> list[dict[str, Any]]:
    """Return the resources that have an address of their own."""
    return [
        {
            "uri": _GUIDE,
            "name": "guide",
            "title": "How Finderfee counts",
            "description": "Money, statuses and plans on one page.",
            "mimeType": "text/markdown",
        }
    ]


def templates() -> list[dict[str, Any]]:
    """Return the resources that there is one of for each of something."""
    return [
        {
            "uriTemplate": "finderfee://programs/{programId}",
            "name": "program",
            "title": "A campaign",
            "description": "One campaign with its terms.",
            "mimeType": "application/json",
        }
    ]


def read(request: McpRequest) -> Mapping[str, Any]:
    """Return what a resource holds. Raises RpcError for one that there is not, or that the caller may not see."""
    uri = a_text(request.params, "uri")
    if uri == _GUIDE:
        text = files.files("api").joinpath("templates/mcp/guide.md").read_text("utf-8")
        return _contents(uri, "text/markdown", text)
    found = _PROGRAM.fullmatch(uri)
    if found is None:
        raise _unknown(uri, "There is no such resource.")
    bound = request.tools["get_program"]
    answer = request.asker.ask(bound, arguments.placed(bound, {"programId": found[1]}))
    if answer.is_refusal:
        raise _unknown(uri, str(answer.data.get("message")))
    return _contents(uri, "application/json", orjson.dumps(results.without_nulls(answer.data)).decode())


def _contents(uri: str, media_type: str, text: str) -> Mapping[str, Any]:
    return {"contents": [{"uri": uri, "mimeType": media_type, "text": text}]}


def _unknown(uri: str, message: str) -> RpcError:
    return RpcError(INVALID_PARAMS, message, status=200, data={"uri": uri})
