"""Dead letters: each opens to what it was given and why it gave up; replay in two clicks, discard with a reason."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.operator.dead_letters import (
    count_dead_letters,
    discard_dead_letter,
    discard_dead_letters,
    get_dead_letter,
    list_dead_letters,
    replay_dead_letter,
    replay_dead_letters,
    summarize_dead_letters,
)
from api.operator.queues import list_queues
from pages import calls, forms, fragments, kept, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("dead_page", __name__)

_DEAD = "/console/dead"
_USES = (list_dead_letters, count_dead_letters, list_queues)
_FILTERS = ("queue", "name", "organizationId", "error")
_TAKE = 20
_COUNT = re.compile(r"[0-9]{1,9}")
_NO_PAGE: Mapping[str, Any] = {"items": (), "nextCursor": None}


@blueprint.get("/console/dead")
@screen("operator", uses=_USES)
def show_dead_letters() -> Response:
    """Show dead letters by the filter in the address, twenty a page. Budget: 6 round trips, however many there are."""
    return _page(forms.EMPTY)


@blueprint.get("/console/dead/fragment")
@screen("operator", uses=(list_dead_letters, count_dead_letters))
def show_dead_letters_part() -> Response:
    """Show the list alone. Budget: 2 round trips."""
    return fragments.show("console/_dead.html", **_listed())


@blueprint.get("/console/dead/<number>")
@screen("operator", uses=(get_dead_letter,))
def show_dead_letter(number: str) -> Response:
    """Show one dead letter with its whole error. Budget: 1 round trip."""
    return _letter_page(number, kept.form() or forms.EMPTY)


@blueprint.post("/console/dead/<number>/replay")
@screen("operator", uses=(replay_dead_letter,))
def send_replay(number: str) -> Response:
    """Run a dead letter again."""
    calls.tried(replay_dead_letter, path={"number": number}, body={}, key=forms.key())
    return screens.sent_on(_DEAD)


@blueprint.post("/console/dead/<number>/discard")
@screen("operator", uses=(*_USES, get_dead_letter, discard_dead_letter))
def send_discard(number: str) -> Response:
    """Discard a dead letter, which wants a reason; asked for on its own page or in the list."""
    why = request.form.get("why", "")
    answer = calls.tried(discard_dead_letter, path={"number": number}, body={"why": why}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_DEAD)
    errors = {"why": "Say why: it is kept for ever."}
    if "own" in request.form:
        return _letter_page(number, forms.wrong(errors), status=422)
    return _page(forms.wrong(errors, form_id=f"dead-{number}-"), status=422)


@blueprint.get("/console/dead/replay")
@screen("operator", uses=_USES)
def show_replay_of_filter() -> Response:
    """Say how many dead letters a filter has, before all of them run again. Budget: 1 round trip."""
    return _replay_page(kept.form() or forms.EMPTY)


@blueprint.post("/console/dead/replay")
@screen("operator", uses=(*_USES, replay_dead_letters))
def send_replay_of_filter() -> Response:
    """Run all dead letters of a filter again, if there are as many as the page said."""
    answer = calls.tried(replay_dead_letters, body=_confirmed(request.form.get("count", "")), key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_DEAD)
    return _replay_page(forms.refused(answer.refusal), status=422)


@blueprint.get("/console/dead/discard")
@screen("operator", uses=(*_USES, summarize_dead_letters))
def show_discard_of_filter() -> Response:
    """Show what a discard of a filter's dead letters leaves undone, before they are deleted. Budget: 1 round trip."""
    return _discard_page(kept.form() or forms.EMPTY)


@blueprint.post("/console/dead/discard")
@screen("operator", uses=(*_USES, summarize_dead_letters, discard_dead_letters))
def send_discard_of_filter() -> Response:
    """Delete all dead letters of a filter, if their number was typed and is still right."""
    typed = request.form.get("typed", "").strip().replace(",", "")
    answer = calls.tried(discard_dead_letters, body=_confirmed(typed), key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_DEAD)
    errors = {} if _COUNT.fullmatch(typed) else {"typed": "Type their number."}
    if not request.form.get("why", "").strip():
        errors["why"] = "Say why: it is kept in the audit log."
    return _discard_page(forms.wrong(errors) if errors else forms.refused(answer.refusal), status=422)


def _confirmed(count: str) -> dict[str, Any]:
    return {
        **{name: request.form.get(name) or None for name in _FILTERS},
        "confirmCount": int(count) if _COUNT.fullmatch(count) else None,
        "why": request.form.get("why", ""),
    }


def _letter_page(number: str, form: FormState, *, status: int = 200) -> Response:
    letter = calls.needed(get_dead_letter, path={"number": number})
    return screens.show(
        "console/dead_letter.html", status=status, form=form, letter=letter, here=f"{_DEAD}/{letter['id']}"
    )


def _wanted() -> dict[str, str | None]:
    sent = request.form if request.method == "POST" else request.args
    return {name: sent.get(name) or None for name in _FILTERS}


def _listed() -> dict[str, Any]:
    wanted = _wanted() if request.method == "GET" else dict.fromkeys(_FILTERS)
    cursor = request.args.get("cursor") or None
    answer = calls.call(list_dead_letters, query=wanted | {"take": _TAKE, "cursor": cursor})
    found = _NO_PAGE if answer.refusal else answer.data
    count = 0 if answer.refusal else calls.needed(count_dead_letters, query=wanted)["count"]
    narrowed = {name: value for name, value in wanted.items() if value is not None}
    at = narrowed | ({"cursor": cursor} if cursor else {})
    return {
        "letters": found["items"],
        "next_cursor": found["nextCursor"],
        "count": count,
        "is_narrowed": bool(at),
        "replay_address": _address("replay", narrowed),
        "discard_address": _address("discard", narrowed),
        "part_address": _address("fragment", at),
        "filter_fault": " ".join(answer.refusal.fields.values()) if answer.refusal else None,
    }


def _address(name: str, query: Mapping[str, str]) -> str:
    return f"{_DEAD}/{name}?{urlencode(query)}" if query else f"{_DEAD}/{name}"


def _page(form: FormState, *, status: int = 200) -> Response:
    listed = _listed()
    if listed["filter_fault"]:
        form, status = FormState(alert=listed["filter_fault"]), 400
    return screens.show(
        "console/dead.html",
        status=status,
        form=form,
        here=_DEAD,
        queues=[(one["queue"], one["queue"]) for one in calls.needed(list_queues)],
        **listed,
    )


def _replay_page(form: FormState, *, status: int = 200) -> Response:
    wanted = _wanted()
    count = calls.needed(count_dead_letters, query=wanted)["count"]
    narrowed = {name: value for name, value in wanted.items() if value is not None}
    return screens.show(
        "console/replay.html",
        status=status,
        form=form,
        page=_address("replay", narrowed),
        count=count,
        wanted=wanted,
        narrowed=narrowed,
    )


def _discard_page(form: FormState, *, status: int = 200) -> Response:
    wanted = _wanted()
    summary = calls.needed(summarize_dead_letters, query=wanted)
    narrowed = {name: value for name, value in wanted.items() if value is not None}
    return screens.show(
        "console/discard.html",
        status=status,
        form=form,
        page=_address("discard", narrowed),
        count=summary["count"],
        kinds=summary["kinds"],
        wanted=wanted,
        narrowed=narrowed,
    )
