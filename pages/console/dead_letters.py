"""Failed jobs (dead letters): each with its arguments and error; replay in two clicks, discard with a reason."""

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
from pages import api_client, forms, screens
from pages.form_pages import Body, CustomForm, Form, form_page, send
from pages.forms import FormState
from pages.list_pages import RowList, read_filter
from pages.screens import screen

blueprint = Blueprint("dead_page", __name__)

_DEAD = "/console/dead"
_FILTERS = ("queue", "name", "organizationId", "error")
_DEAD_LETTERS = RowList(list_dead_letters, _FILTERS, query={"take": 20})
_COUNT = re.compile(r"[0-9]{1,9}")


def _discard_letter(number: str) -> Response | FormState:
    """Discard a dead letter with a reason, typed on its own page or in the list."""
    answer = send(discard_dead_letter, path={"number": number}, body={"why": request.form.get("why", "")})
    if answer.refusal is None:
        return screens.redirect(_DEAD)
    is_own_page = "own" in request.form
    form = forms.form_with_errors(
        {"why": "Enter a reason. It is stored permanently."}, form_id="" if is_own_page else f"dead-{number}-"
    )
    return _render_letter(form, number) if is_own_page else form


@form_page(
    blueprint,
    "operator",
    _DEAD,
    Form("/<number>/replay", replay_dead_letter),
    CustomForm("/<number>/discard", _discard_letter, (get_dead_letter, discard_dead_letter)),
    uses=(list_dead_letters, count_dead_letters, list_queues),
)
def show_dead_letters(form: FormState | None) -> Response:
    """Show dead letters by the filter in the address, twenty a page. Budget: 6 round trips, however many there are."""
    values = _read_list()
    queues = [(row["queue"], row["queue"]) for row in api_client.require(list_queues)]
    return screens.render("console/dead.html", **values | {"form": values["form"] or form}, queues=queues)


@blueprint.get(f"{_DEAD}/fragment")
@screen("operator", uses=(list_dead_letters, count_dead_letters))
def show_dead_letters_part() -> Response:
    """Show the list alone. Budget: 2 round trips."""
    return screens.render_part("console/_dead.html", **_read_list() | {"form": None})


def _read_list() -> dict[str, Any]:
    letters, filters = _DEAD_LETTERS.read(), _read_filters()
    cursor = read_filter("cursor")
    return letters.values() | {
        "count": 0 if letters.form else api_client.require(count_dead_letters, query=filters)["count"],
        "replay_address": _filter_address("replay", filters),
        "discard_address": _filter_address("discard", filters),
        "part_address": _filter_address("fragment", filters | ({"cursor": cursor} if cursor else {})),
    }


def _read_filters() -> dict[str, str]:
    """Return the filter of the address, or of the form that contains it."""
    source = request.form if request.method == "POST" else request.args
    return {name: value for name in _FILTERS if (value := source.get(name, "").strip())}


def _filter_address(name: str, query: Mapping[str, str]) -> str:
    return f"{_DEAD}/{name}?{urlencode(query)}" if query else f"{_DEAD}/{name}"


@form_page(blueprint, "operator", f"{_DEAD}/<number>", uses=(get_dead_letter, replay_dead_letter), restores=True)
def show_dead_letter(form: FormState | None, number: str) -> Response:
    """Show one dead letter with its whole error. Budget: 1 round trip."""
    return _render_letter(form, number)


def _render_letter(form: FormState | None, number: str) -> Response:
    letter = api_client.require(get_dead_letter, path={"number": number})
    return screens.render("console/dead_letter.html", form, letter=letter, own=f"{_DEAD}/{letter['id']}")


def _read_confirmation() -> Body:
    return _confirmation_body(request.form.get("count", ""))


def _confirmation_body(count: str) -> Body:
    """Return the filter with the number of dead letters that the person saw, and the reason."""
    return {
        **{name: request.form.get(name) or None for name in _FILTERS},
        "confirmCount": int(count) if _COUNT.fullmatch(count) else None,
        "why": request.form.get("why", ""),
    }


@form_page(
    blueprint,
    "operator",
    f"{_DEAD}/replay",
    Form("", replay_dead_letters, _read_confirmation, to=_DEAD),
    uses=(count_dead_letters,),
    restores=True,
)
def show_replay_of_filter(form: FormState | None) -> Response:
    """Show the number of dead letters of a filter before all of them run again. Budget: 1 round trip."""
    filters = _read_filters()
    count = api_client.require(count_dead_letters, query=filters)["count"]
    return screens.render(
        "console/replay.html", form, page=_filter_address("replay", filters), count=count, narrowed=filters
    )


def _discard_all() -> Response | FormState:
    """Delete all dead letters of a filter, if their number was typed and is still correct."""
    typed = request.form.get("typed", "").strip().replace(",", "")
    answer = send(discard_dead_letters, body=_confirmation_body(typed))
    if answer.refusal is None:
        return screens.redirect(_DEAD)
    errors = {} if _COUNT.fullmatch(typed) else {"typed": "Type the number of dead letters."}
    if not request.form.get("why", "").strip():
        errors["why"] = "Enter a reason. It is stored in the audit log."
    return forms.form_with_errors(errors) if errors else forms.form_from_refusal(answer)


@form_page(
    blueprint,
    "operator",
    f"{_DEAD}/discard",
    CustomForm("", _discard_all, (discard_dead_letters,)),
    uses=(summarize_dead_letters,),
    restores=True,
)
def show_discard_of_filter(form: FormState | None) -> Response:
    """Show the work that a discard of a filter leaves undone, before it is confirmed. Budget: 1 round trip."""
    filters = _read_filters()
    summary = api_client.require(summarize_dead_letters, query=filters)
    page = _filter_address("discard", filters)
    return screens.render(
        "console/discard.html", form, page=page, count=summary["count"], kinds=summary["kinds"], narrowed=filters
    )
