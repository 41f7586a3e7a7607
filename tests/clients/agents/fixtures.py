"""The tools, resources and prompts that the conformance suite expects at a server in addition to the server's own.

The suite sends no credentials, so this module adds a key to each request of the application, and fixtures to the
methods of /mcp. A fixture uses the product's own mechanism where there is one: tools are bound to operations, prompts
and confirmations are created as all others. Results that the product cannot return (pictures, sound, other resources)
are not imitated; the lists of expected failures name them.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Blueprint, Flask

from api.access.guards import Guard
from api.edge.operations import object_of, operation
from api.mcp import methods, prompts, resources
from api.mcp.messages import INVALID_PARAMS, RpcError, object_member
from api.mcp.prompts import McpPrompt
from api.mcp.requests import McpRequest
from api.mcp.tool_calls import confirmations
from api.mcp.tools import catalogue
from api.mcp.tools.definition import Tool, ToolKind
from domain.refusals import Refused
from schemas.mcp import McpAnswer

_blueprint = Blueprint("suite", __name__)
_READ, _WRITE = Guard(audience="brand"), Guard(audience="brand", scope="read_write")


@_blueprint.get("/suite/text")
@operation(_READ, object_of(McpAnswer()), is_described=False)
def say_something() -> Mapping[str, str]:
    """Return a text."""
    return {"text": "This is a simple text response for testing."}


@_blueprint.get("/suite/error")
@operation(_READ, object_of(McpAnswer()), is_described=False)
def refuse() -> Mapping[str, str]:
    """Raise a refusal."""
    raise Refused(409, "invalid_request", "This tool intentionally returns an error for testing")


@_blueprint.post("/suite/write")
@operation(_WRITE, object_of(McpAnswer()), is_described=False)
def write() -> Mapping[str, str]:
    """Return a text once the call is confirmed."""
    return {"text": "state-ok"}


_TOOLS = (
    Tool("test_simple_text", "suite.say_something", ToolKind.Read, "Say something."),
    Tool("test_logging_tool", "suite.say_something", ToolKind.Read, "Say something, and log nothing."),
    Tool("test_streaming_elicitation", "suite.say_something", ToolKind.Read, "Say something, and ask nothing."),
    Tool("test_error_handling", "suite.refuse", ToolKind.Read, "Refuse."),
    Tool("test_input_required_result_request_state", "suite.write", ToolKind.Destructive, "Write."),
    Tool("test_input_required_result_tampered_state", "suite.write", ToolKind.Destructive, "Write."),
)
_PROMPTS = (
    McpPrompt("test_simple_prompt", "Simple", "Simple.", {}, {}, "This is a simple prompt for testing."),
    McpPrompt(
        "test_prompt_with_arguments",
        "With arguments",
        "With arguments.",
        {"arg1": "The first.", "arg2": "The second."},
        {},
        "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'",
    ),
)

_Round = Mapping[str, Mapping[str, Any]]


def _build_question(name: str) -> Mapping[str, Any]:
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return {"method": "elicitation/create", "params": {"message": f"What is your {name}?", "requestedSchema": schema}}


_SAMPLING_REQUEST: Mapping[str, Any] = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "Greet me."}}], "maxTokens": 50},
}
_ROOTS_REQUEST: Mapping[str, Any] = {"method": "roots/list", "params": {}}
_CAPABILITY_BY_METHOD = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}

# The requests of each fixture to its client, by round.
_QUESTIONS: Mapping[str, tuple[_Round, ...]] = {
    "test_input_required_result_elicitation": ({"user_name": _build_question("name")},),
    "test_input_required_result_sampling": ({"capital_question": _SAMPLING_REQUEST},),
    "test_input_required_result_list_roots": ({"client_roots": _ROOTS_REQUEST},),
    "test_input_required_result_multiple_inputs": (
        {"user_name": _build_question("name"), "greeting": _SAMPLING_REQUEST, "client_roots": _ROOTS_REQUEST},
    ),
    "test_input_required_result_multi_round": ({"step1": _build_question("name")}, {"step2": _build_question("color")}),
    "test_input_required_result_capabilities": ({"user_name": _build_question("name"), "greeting": _SAMPLING_REQUEST},),
    "test_input_required_result_prompt": ({"user_context": _build_question("context")},),
}


def app_with_key(app: Flask, key: str) -> Callable[[WSGIEnvironment, StartResponse], Any]:
    """Return a WSGI application that calls `app` with an API key."""

    def call_with_key(environ: WSGIEnvironment, start: StartResponse) -> Any:
        return app(environ | {"HTTP_AUTHORIZATION": f"Bearer {key}"}, start)

    return call_with_key


@contextmanager
def add_fixtures(app: Flask) -> Iterator[None]:
    """Add the fixtures to an application before its first request, and to the methods of this process."""
    app.register_blueprint(_blueprint)
    shared = {
        **methods._SHARED,
        "tools/call": _with_questions(methods._SHARED["tools/call"], {"content": [{"type": "text", "text": "Done."}]}),
        "prompts/get": _with_questions(methods._SHARED["prompts/get"], {"messages": []}),
        "resources/read": _read_resource,
    }
    toolsets = {**catalogue.TOOLSETS, "suite": _TOOLS}
    with (
        mock.patch.object(methods, "_SHARED", shared),
        mock.patch.object(catalogue, "TOOLSETS", toolsets),
        mock.patch("api.mcp.tool_choice.TOOLSETS", toolsets),
        mock.patch.object(prompts, "_PROMPTS", (*prompts._PROMPTS, *_PROMPTS)),
    ):
        yield


def _with_questions(
    method: Callable[[McpRequest], Mapping[str, Any]], final_result: Mapping[str, Any]
) -> Callable[[McpRequest], Mapping[str, Any]]:
    def answer(request: McpRequest) -> Mapping[str, Any]:
        name = request.params.get("name")
        return _next_result(request, str(name), final_result) if name in _QUESTIONS else method(request)

    return answer


def _next_result(request: McpRequest, name: str, final_result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the questions of the next unanswered round, or the final result."""
    rounds, answers = _QUESTIONS[name], object_member(request.params, "inputResponses")
    number = _read_round(request, name)
    if all(object_member(answers, key) for key in rounds[number]):
        number += 1
    if number == len(rounds):
        return final_result
    capabilities = object_member(object_member(request.params, "_meta"), "io.modelcontextprotocol/clientCapabilities")
    questions = {
        key: question
        for key, question in rounds[number].items()
        if _CAPABILITY_BY_METHOD[question["method"]] in capabilities
    }
    state, _ = confirmations._seal_proof("state", f"{name} {number}", {})
    return {"resultType": "input_required", "inputRequests": questions, "requestState": state}


def _read_round(request: McpRequest, name: str) -> int:
    state = request.params.get("requestState")
    if state is None:
        return 0
    for number in range(len(_QUESTIONS[name])):
        if confirmations._open_proof("state", state, f"{name} {number}", {}) is not None:
            return number
    raise RpcError(INVALID_PARAMS, "requestState was not issued by this server.", status=200)


def _read_resource(request: McpRequest) -> Mapping[str, Any]:
    uri = request.params.get("uri")
    if uri == "test://static-text":
        return resources._contents(uri, "text/plain", "This is the content of the static text resource.")
    if uri == "test://template/123/data":
        return resources._contents(
            uri, "application/json", '{"id":"123","templateTest":true,"data":"Data for ID: 123"}'
        )
    return resources.read_resource(request)
