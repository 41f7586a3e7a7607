"""Prompts: what a person can have an agent do for them, in words that lead it to the right tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.mcp.messages import INVALID_PARAMS, RpcError, a_text, an_object
from api.mcp.requests import McpRequest

_LONGEST_ARGUMENT = 200


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt: its name and title, what it is for, what it may be given, and what it says; `{name}` is an argument."""

    name: str
    title: str
    about: str
    needs: Mapping[str, str]
    takes: Mapping[str, str]
    text: str


_PROMPTS = (
    McpPrompt(
        "review_applications",
        "Review applications",
        "Go through the affiliates who wait for a decision.",
        {},
        {"programId": "Only those of this campaign."},
        "Go through the affiliates who wait for a decision (list_applications). Campaign: {programId}. For each say in "
        "one line who they are, how they want to advertise, and what speaks for or against them. Propose approve or "
        "reject with a reason, and decide only what I agree to.",
    ),
    McpPrompt(
        "check_tracking",
        "Check tracking",
        "Find out whether a campaign's tracking works.",
        {"programId": "The campaign."},
        {},
        "Check whether the tracking of campaign {programId} works: get_tracking_status, then list_recent_events. If "
        "nothing was seen, show me get_install_snippet and say where it belongs. Then watch list_recent_events while I "
        "make a test purchase, and say what arrived.",
    ),
    McpPrompt(
        "weekly_report",
        "Weekly report",
        "What happened in the last seven days.",
        {},
        {"programId": "Only this campaign."},
        "Write a report of the last seven days. Campaign: {programId}. Use get_program_stats, list_conversions with "
        "since, list_fraud_events and list_payouts. Give clicks, leads, sales, commissions and what is owed by "
        "currency, the five best affiliates, what looks unusual, and what waits for a decision.",
    ),
    McpPrompt(
        "explain_commission",
        "Explain a commission",
        "Say how the commission of a sale came about.",
        {"conversionId": "The conversion."},
        {},
        "Explain the commission of conversion {conversionId}: read get_conversion, the campaign's terms (get_program) "
        "and the affiliate's own rate (get_affiliate). Say which rate was used and why, what was refunded, and what is "
        "still to be paid.",
    ),
)


def listed() -> list[dict[str, Any]]:
    """Return the prompts as prompts/list shows them."""
    return [
        {"name": prompt.name, "title": prompt.title, "description": prompt.about, "arguments": _arguments(prompt)}
        for prompt in _PROMPTS
    ]


def get(request: McpRequest) -> Mapping[str, Any]:
    """Return a prompt with its arguments filled in. Raises RpcError for one that there is not or wrong arguments."""
    name = a_text(request.params, "name")
    sent = an_object(request.params, "arguments")
    prompt = next((one for one in _PROMPTS if one.name == name), None)
    if prompt is None:
        raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name[:100]}", status=200)
    known = {**prompt.needs, **prompt.takes}
    for argument, value in sent.items():
        if argument not in known or not isinstance(value, str) or len(value) > _LONGEST_ARGUMENT:
            raise RpcError(INVALID_PARAMS, f"The prompt {name} takes no such {argument[:100]}.", status=200)
    for argument in prompt.needs:
        a_text(sent, argument)
    said = prompt.text.format(**{argument: sent.get(argument) or "all" for argument in known})
    return {
        "description": prompt.about,
        "messages": [{"role": "user", "content": {"type": "text", "text": said}}],
    }


def _arguments(prompt: McpPrompt) -> list[dict[str, Any]]:
    needed = [{"name": name, "description": about, "required": True} for name, about in prompt.needs.items()]
    return [*needed, *({"name": name, "description": about} for name, about in prompt.takes.items())]
