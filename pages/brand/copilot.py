"""The co-pilot: a question, the conversation so far, and proposed acts, which only the person confirms.

The page has one address, with the conversation in its query. Text of the model is shown as plain text.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.copilot.confirmations import confirm_copilot_act, decline_copilot_act
from api.copilot.conversations import (
    create_copilot_conversation,
    delete_copilot_conversation,
    get_copilot_conversation,
    list_copilot_conversations,
    retry_copilot_question,
    run_copilot_steps,
    send_copilot_message,
)
from domain.money import wording
from domain.text import one_line
from pages import api_client, forms, screens
from pages.api_client import ApiResult, View
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("copilot_page", __name__)

_HERE = "/dashboard/co-pilot"
_USES = (list_copilot_conversations, get_copilot_conversation, run_copilot_steps)
_FORM_OPERATIONS = (
    create_copilot_conversation,
    send_copilot_message,
    retry_copilot_question,
    delete_copilot_conversation,
    confirm_copilot_act,
    decline_copilot_act,
)
_LISTED_CONVERSATIONS = 10
_WORD = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_MAX_LABEL = 200
# The longest text that a tool takes: arguments to confirm are shown whole.
_MAX_VALUE = 50_000
# Operations of the page's buttons.
_ACTS: Mapping[str, View] = {
    "retry": retry_copilot_question,
    "delete": delete_copilot_conversation,
    "confirm": confirm_copilot_act,
    "decline": decline_copilot_act,
}
_ACT_DECISIONS = ("confirm", "decline")


@blueprint.get(f"{_HERE}/fragment")
@screen("member", uses=_USES)
def show_copilot_part() -> Response:
    """Show the conversation alone, and run the model's pending look-ups. Budget: 7 round trips."""
    return screens.render_part("brand/_copilot.html", **_read_values(_read_conversation_id()))


def _send_form() -> Response | FormState:
    """Send a question, or run a button: confirm or decline an act, retry the question, delete the conversation."""
    conversation_id, word = request.form.get("conversation", ""), request.form.get("do", "")
    answer = _send(conversation_id, word)
    if answer.refusal is not None:
        return _render_page(forms.form_from_refusal(answer), conversation_id)
    return screens.redirect(_HERE if word == "delete" else _conversation_address(answer.data["id"]))


def _send(conversation_id: str, word: str) -> ApiResult:
    path: dict[str, object] = {"conversation_id": conversation_id}
    if word in _ACTS:
        act = {"act_id": request.form.get("act", "")} if word in _ACT_DECISIONS else {}
        return api_client.submit(_ACTS[word], path=path | act, key=forms.idempotency_key())
    body = {"text": request.form.get("text", "")}
    if conversation_id:
        return send(send_copilot_message, path=path, body=body)
    return send(create_copilot_conversation, body=body)


@form_page(blueprint, "member", _HERE, CustomForm("", _send_form, _FORM_OPERATIONS), uses=_USES, restores=True)
def show_copilot(form: FormState | None) -> Response:
    """Show a conversation, or the form of a new one; runs the model's pending look-ups. Budget: 6 round trips."""
    return _render_page(form, _read_conversation_id())


def _render_page(form: FormState | None, requested_id: str) -> Response:
    here, values = _conversation_address(requested_id) if requested_id else _HERE, _read_values(requested_id)
    latest = api_client.require(
        list_copilot_conversations, query={"take": _LISTED_CONVERSATIONS}
    )  # after the look-ups, which may change them
    return screens.render("brand/copilot.html", form, latest=latest["items"], address=here, **values)


def _read_values(requested_id: str) -> dict[str, Any]:
    if not requested_id:
        return {"talk": None, "timeline": [], "is_live": False}
    # Look-ups that the model requested wait until the person opens the page, and run with that person's access.
    talk = api_client.require(run_copilot_steps, path={"conversation_id": requested_id})
    return {
        "talk": talk,
        "timeline": sorted(
            [*talk["entries"], *map(_describe_act, talk["acts"], count(1))], key=lambda one: str(one["createdAt"])
        ),
        "is_live": talk["state"] in ("Thinking", "Working"),
        "fragment": f"{_HERE}/fragment?{urlencode({'conversation': requested_id})}",
    }


def _describe_act(act: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a proposed act with its name, its number in the conversation and its lines in words."""
    preview = {name: document for name, document in act["preview"].items() if name not in ("does", "arguments")}
    result = act["result"] or {}
    name = act["tool"].replace("_", " ").capitalize()
    return {
        **act,
        "kind": "Act",
        "name": name,
        "title": f"{name} ({number})",
        "does": act["preview"]["does"],
        "lines": list(_describe_document(act["arguments"])),
        "about": list(_describe_document({**preview.pop("about", {}), **preview})),
        "refusal": result.get("message") or result.get("error"),
    }


def _describe_document(document: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield all values of a nested document as labels and texts; amounts as money."""
    pairs = document.items() if isinstance(document, Mapping) else enumerate(document, 1)
    currency = document.get("currency") if isinstance(document, Mapping) else None
    for name, value in pairs:
        shown_name = one_line.format_line(str(name), max_length=_MAX_LABEL)
        label = f"{above} › {shown_name}" if above else shown_name
        if isinstance(value, Mapping | list) and value:
            yield from _describe_document(value, label)
        else:
            yield label, _describe_value(str(name), value, currency)


def _describe_value(name: str, value: Any, currency: Any) -> str:
    if name.endswith("Cents") and type(value) is int and isinstance(currency, str):
        return wording.format_money(value, currency)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ({}, [], ""):
        return wording.DASH
    return _quote(value) if isinstance(value, str) else str(value)


def _quote(value: str) -> str:
    """Return a text as one quoted line, since anyone may have written it; ids and states stay unquoted."""
    if _WORD.fullmatch(value):
        return value
    return one_line.quote(one_line.format_line(value, max_length=_MAX_VALUE))


def _read_conversation_id() -> str:
    return request.args.get("conversation", "")


def _conversation_address(conversation_id: str) -> str:
    return f"{_HERE}?{urlencode({'conversation': conversation_id})}"
