"""Prompts: tasks that a person can give to an agent, in words that lead it to the right tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.mcp.messages import INVALID_PARAMS, RpcError, object_member, text_member
from api.mcp.requests import McpRequest

_MAX_ARGUMENT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt: name, title, purpose, arguments and text; `{name}` in the text is an argument."""

    name: str
    title: str
    about: str
    required_arguments: Mapping[str, str]
    optional_arguments: Mapping[str, str]
    text: str


_PROMPTS = (
    McpPrompt(
        "review_applications",
        "Review applications",
        "Review the affiliates who are waiting for a decision.",
        {},
        {"programId": "Only applications to this campaign."},
        "Review the affiliates who are waiting for a decision (list_applications). Campaign: {programId}. For each, "
        "write one line: who they are, how they want to advertise, and the arguments for and against them. Propose to "
        "approve or reject with a reason, and decide only what I agree to.",
    ),
    McpPrompt(
        "check_tracking",
        "Check tracking",
        "Check whether a campaign's tracking works.",
        {"programId": "The campaign."},
        {},
        "Check whether the tracking of campaign {programId} works: get_tracking_status, then list_recent_events. If "
        "nothing was recorded, show me get_install_snippet and explain where to install it. Then watch "
        "list_recent_events while I make a test purchase, and report what arrived.",
    ),
    McpPrompt(
        "weekly_report",
        "Weekly report",
        "What happened in the last seven days.",
        {},
        {"programId": "Only this campaign."},
        "Write a report of the last seven days. Campaign: {programId}. Use get_program_stats, list_conversions with "
        "since, list_fraud_events and list_payouts. Report clicks, leads, sales, commissions and the amounts owed by "
        "currency, the five best affiliates, anything unusual, and everything that is waiting for a decision.",
    ),
    McpPrompt(
        "explain_commission",
        "Explain a commission",
        "Explain how the commission of a sale was computed.",
        {"conversionId": "The conversion."},
        {},
        "Explain the commission of conversion {conversionId}: read get_conversion, the campaign's terms (get_program) "
        "and the affiliate's own rate (get_affiliate). Explain which rate was used and why, what was refunded, and "
        "what is still to be paid.",
    ),
)


def list_prompts() -> list[dict[str, Any]]:
    """Return the prompts as prompts/list returns them."""
    return [
        {"name": prompt.name, "title": prompt.title, "description": prompt.about, "arguments": _arguments(prompt)}
        for prompt in _PROMPTS
    ]


def render_prompt(request: McpRequest) -> Mapping[str, Any]:
    """Return a prompt with its arguments filled in. Raises RpcError for an unknown prompt or wrong arguments."""
    name = text_member(request.params, "name")
    arguments = object_member(request.params, "arguments")
    prompt = next((prompt for prompt in _PROMPTS if prompt.name == name), None)
    if prompt is None:
        raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name[:100]}", status=200)
    accepted = {**prompt.required_arguments, **prompt.optional_arguments}
    for argument, value in arguments.items():
        if argument not in accepted or not isinstance(value, str) or len(value) > _MAX_ARGUMENT_LENGTH:
            raise RpcError(INVALID_PARAMS, f"The prompt {name} does not accept this {argument[:100]}.", status=200)
    for argument in prompt.required_arguments:
        text_member(arguments, argument)
    text = prompt.text.format(**{argument: arguments.get(argument) or "all" for argument in accepted})
    return {
        "description": prompt.about,
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }


def _arguments(prompt: McpPrompt) -> list[dict[str, Any]]:
    required = [
        {"name": name, "description": about, "required": True} for name, about in prompt.required_arguments.items()
    ]
    return [*required, *({"name": name, "description": about} for name, about in prompt.optional_arguments.items())]
