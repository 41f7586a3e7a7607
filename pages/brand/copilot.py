"""The co-pilot: a question, what was said so far, and proposed acts, which only the person confirms.

All of it is at one address, with the conversation in its query. Text of the model is shown as plain text.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.copilot.acts import confirm_copilot_act, decline_copilot_act
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
_SENDS = (
    create_copilot_conversation,
    send_copilot_message,
    retry_copilot_question,
    delete_copilot_conversation,
    confirm_copilot_act,
    decline_copilot_act,
)
_SHOWN = 10
_WORD = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_MAX_LABEL = 200
# The longest text that a tool takes: what is confirmed is shown whole.
_MAX_VALUE = 50_000
#: What the buttons of the page ask for, besides a question.
_ACTS: Mapping[str, View] = {
    "retry": retry_copilot_question,
    "delete": delete_copilot_conversation,
    "confirm": confirm_copilot_act,
    "decline": decline_copilot_act,
}
_OF_ONE_ACT = ("confirm", "decline")


@blueprint.get(f"{_HERE}/fragment")
@screen("member", uses=_USES)
def show_copilot_part() -> Response:
    """Show what was said alone, and look up what the model wants to see. Budget: 7 round trips."""
    return screens.render_part("brand/_copilot.html", **_read_values(_conversation_id()))


def _send_form() -> Response | FormState:
    """Ask, or do what a button says: confirm or decline what is proposed, ask once more, delete the conversation."""
    conversation_id, word = request.form.get("conversation", ""), request.form.get("do", "")
    answer = _send(conversation_id, word)
    if answer.refusal is not None:
        return _show(forms.form_from_refusal(answer), conversation_id)
    return screens.redirect(_HERE if word == "delete" else _address(answer.data["id"]))


def _send(conversation_id: str, word: str) -> ApiResult:
    path: dict[str, object] = {"conversation_id": conversation_id}
    if word in _ACTS:
        act = {"act_id": request.form.get("act", "")} if word in _OF_ONE_ACT else {}
        return api_client.submit(_ACTS[word], path=path | act, key=forms.idempotency_key())
    body = {"text": request.form.get("text", "")}
    if conversation_id:
        return send(send_copilot_message, path=path, body=body)
    return send(create_copilot_conversation, body=body)


@form_page(blueprint, "member", _HERE, CustomForm("", _send_form, _SENDS), uses=_USES, restores=True)
def show_copilot(form: FormState | None) -> Response:
    """Show a conversation, or the form that begins one; looks up what the model wants to see. Budget: 6 round trips."""
    return _show(form, _conversation_id())


def _show(form: FormState | None, requested_id: str) -> Response:
    here, values = _address(requested_id) if requested_id else _HERE, _read_values(requested_id)
    latest = api_client.require(list_copilot_conversations, query={"take": _SHOWN})  # as they stand after that look
    return screens.render("brand/copilot.html", form, latest=latest["items"], address=here, **values)


def _read_values(requested_id: str) -> dict[str, Any]:
    if not requested_id:
        return {"talk": None, "timeline": [], "is_live": False}
    # The model's reply waits in the conversation until its person comes by: then it is looked up for it, as them.
    talk = api_client.require(run_copilot_steps, path={"conversation_id": requested_id})
    return {
        "talk": talk,
        "timeline": sorted(
            [*talk["entries"], *map(_worded, talk["acts"], count(1))], key=lambda one: str(one["createdAt"])
        ),
        "is_live": talk["state"] in ("Thinking", "Working"),
        "fragment": f"{_HERE}/fragment?{urlencode({'conversation': requested_id})}",
    }


def _worded(act: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a proposed act, of so many in its conversation, with its name and its lines in words."""
    preview = {name: document for name, document in act["preview"].items() if name not in ("does", "arguments")}
    result = act["result"] or {}
    name = act["tool"].replace("_", " ").capitalize()
    return {
        **act,
        "kind": "Act",
        "name": name,
        "title": f"{name} ({number})",
        "does": act["preview"]["does"],
        "lines": list(_lines(act["arguments"])),
        "about": list(_lines({**preview.pop("about", {}), **preview})),
        "refusal": result.get("message") or result.get("error"),
    }


def _lines(document: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield what a document holds as labels and texts, however deep it stands; amounts as money."""
    pairs = document.items() if isinstance(document, Mapping) else enumerate(document, 1)
    currency = document.get("currency") if isinstance(document, Mapping) else None
    for name, value in pairs:
        shown_name = one_line.displayed(str(name), max_length=_MAX_LABEL)
        label = f"{above} › {shown_name}" if above else shown_name
        if isinstance(value, Mapping | list) and value:
            yield from _lines(value, label)
        else:
            yield label, _text(str(name), value, currency)


def _text(name: str, value: Any, currency: Any) -> str:
    if name.endswith("Cents") and type(value) is int and isinstance(currency, str):
        return wording.money(value, currency)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ({}, [], ""):
        return wording.NOTHING
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(value: str) -> str:
    """Return a text that a stranger may have written as one quoted line; ids and states need no quotation marks."""
    if _WORD.fullmatch(value):
        return value
    return one_line.quoted(one_line.displayed(value, max_length=_MAX_VALUE))


def _conversation_id() -> str:
    return request.args.get("conversation", "")


def _address(conversation_id: str) -> str:
    return f"{_HERE}?{urlencode({'conversation': conversation_id})}"
