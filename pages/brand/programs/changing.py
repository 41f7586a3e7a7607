"""The terms of a program, changed; and its end."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.organization.organization import get_organization
from api.programs.programs import archive_program, change_program, get_program
from domain.refused import Refused
from pages import calls, forms, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("program_terms_page", __name__)

_CHANGE = "/dashboard/programs/<program_id>/change"
_ARCHIVE = "/dashboard/programs/<program_id>/archive"
_TEXTS = ("name", "slug", "description", "termsUrl", "referralDestinationUrl")
_CHOICES = ("defaultCommissionType", "attributionModel", "networkVisibility", "category")
_NUMBERS = ("defaultCommissionValue", "cookieWindowDays", "recurringMonths", "recurringDelayInvoices")
_AMOUNTS = {
    "budgetCents": "budgetCurrency",
    "minPayoutCents": "minPayoutCurrency",
    "leadBountyCents": "leadBountyCurrency",
    "clickRewardCents": "clickRewardCurrency",
}
_SWITCHES = ("isActive", "autoApprove")
# What a change says for no limit, where null would leave it as it is.
_FOR_EVER = -1


@blueprint.get(_CHANGE)
@screen("member", uses=(get_program, get_organization))
def show_change(program_id: str) -> Response:
    """Show the terms to be changed. Budget: 2 round trips."""
    program = _program(program_id)
    home = calls.needed(get_organization)["homeCurrency"]
    return _show(program, home, _as_it_is(program))


@blueprint.post(_CHANGE)
@screen("member", uses=(get_program, get_organization, change_program))
def change(program_id: str) -> Response:
    """Change what differs from what holds, and lead to the program."""
    program = _program(program_id)
    home = calls.needed(get_organization)["homeCurrency"]
    if body := _changes(program, home):
        answer = calls.tried(change_program, path={"program_id": program_id}, body=body, key=forms.key())
        if answer.refusal is not None:
            return _show(program, home, forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{program['id']}")


@blueprint.get(_ARCHIVE)
@screen("member", uses=(get_program,))
def show_archive(program_id: str) -> Response:
    """Ask before a program ends. Budget: 2 round trips."""
    program = calls.needed(get_program, path={"program_id": program_id})
    if not calls.may(archive_program):
        raise Refused(403)
    return screens.show("brand/programs/archive.html", program=program, base=f"/dashboard/programs/{program['id']}")


@blueprint.post(_ARCHIVE)
@screen("member", uses=(get_program, archive_program))
def archive(program_id: str) -> Response:
    """End a program, and lead to what is left of it."""
    answer = calls.tried(archive_program, path={"program_id": program_id}, key=forms.key())
    assert answer.refusal is None  # there is nothing in the form
    return screens.sent_on(f"/dashboard/programs/{program_id}")


def _program(program_id: str) -> Any:
    program = calls.needed(get_program, path={"program_id": program_id})
    if not calls.may(change_program):
        raise Refused(403)
    return program


def _as_it_is(program: Mapping[str, Any]) -> FormState:
    amounts = {name: typed.major(program[name], program[currency]) for name, currency in _AMOUNTS.items()}
    switches = {name: "on" if program[name] else None for name in _SWITCHES}
    choices = {name: program[name] or "" for name in _CHOICES}
    return forms.blank(**{name: program[name] for name in (*_TEXTS, *_NUMBERS)} | choices | amounts | switches)


def _changes(program: Mapping[str, Any], home: str) -> dict[str, Any]:
    """Return what was typed where it differs from what holds. What is not in the form stays as it is.

    An amount keeps its currency as long as nobody types another one; then it is in the home currency.
    """
    sent = request.form
    typed_in: dict[str, Any] = {name: _lines(sent[name]) or None for name in _TEXTS if name in sent}
    typed_in |= {name: sent[name] or None for name in _CHOICES if name in sent}
    typed_in |= {name: typed.number(sent[name]) for name in _NUMBERS if name in sent}
    typed_in |= {name: name in sent for name in _SWITCHES}
    for name, currency in _AMOUNTS.items():
        if name in sent and sent[name].strip() != (typed.major(program[name], program[currency]) or ""):
            typed_in[name] = typed.minor(sent[name], home)
    changes = {name: value for name, value in typed_in.items() if value != program[name]}
    if changes.get("recurringMonths", 0) is None:
        changes["recurringMonths"] = _FOR_EVER
    return changes


def _lines(text: str) -> str:
    """Return a text with the ends of its lines as everywhere else; a form sends them in two characters."""
    return text.replace("\r\n", "\n").strip()


def _show(program: Mapping[str, Any], home: str, form: FormState, status: int = 200) -> Response:
    return screens.show(
        "brand/programs/change.html",
        status=status,
        form=form,
        program=program,
        home=home,
        base=f"/dashboard/programs/{program['id']}",
    )
