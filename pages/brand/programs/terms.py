"""The terms of a program, changed; and its end."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.organization.organization import get_organization
from api.programs.programs import archive_program, change_program, get_program
from domain.refusals import Refused
from pages import api_client, form_values, forms, screens
from pages.form_pages import CustomForm, Form, form_page, send_form
from pages.forms import FormState

blueprint = Blueprint("program_terms_page", __name__)

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
# The API's value for no limit; null would mean no change.
_UNLIMITED = -1


def _fill_terms(program: Mapping[str, Any]) -> FormState:
    amounts = {name: form_values.format_amount(program[name], program[currency]) for name, currency in _AMOUNTS.items()}
    switches = {name: "on" if program[name] else None for name in _SWITCHES}
    choices = {name: program[name] or "" for name in _CHOICES}
    return forms.prefill(**{name: program[name] for name in (*_TEXTS, *_NUMBERS)} | choices | amounts | switches)


def _read_changes(program: Mapping[str, Any], home: str) -> dict[str, Any]:
    """Return the typed values that differ from the program's. Fields that the form leaves out stay unchanged.

    An amount keeps its currency until another amount is typed; then it is in the home currency.
    """
    fields = request.form
    values: dict[str, Any] = {name: _normalize_lines(fields[name]) or None for name in _TEXTS if name in fields}
    values |= {name: fields[name] or None for name in _CHOICES if name in fields}
    values |= {name: form_values.parse_number(fields[name]) for name in _NUMBERS if name in fields}
    values |= {name: name in fields for name in _SWITCHES}
    for name, currency in _AMOUNTS.items():
        if name in fields and fields[name].strip() != (
            form_values.format_amount(program[name], program[currency]) or ""
        ):
            values[name] = form_values.parse_amount(fields[name], home)
    changes = {name: value for name, value in values.items() if value != program[name]}
    if changes.get("recurringMonths", 0) is None:
        changes["recurringMonths"] = _UNLIMITED
    return changes


def _normalize_lines(text: str) -> str:
    """Return a text with normalized line ends; a form sends CRLF."""
    return text.replace("\r\n", "\n").strip()


def _change_terms(program_id: str) -> Response | FormState:
    """Send the changed terms, and redirect to the program."""
    program = _get_program(program_id)
    to = f"/dashboard/programs/{program['id']}"
    changes = _read_changes(program, api_client.require(get_organization)["homeCurrency"])
    if not changes:
        return screens.redirect(to)
    return send_form(change_program, path={"program_id": program_id}, body=changes, to=to)


@form_page(
    blueprint,
    "member",
    "/dashboard/programs/<program_id>/change",
    CustomForm("", _change_terms, (change_program,)),
    uses=(get_program, get_organization),
)
def show_change(form: FormState | None, program_id: str) -> Response:
    """Show the form of the terms. Budget: 2 round trips."""
    program = _get_program(program_id)
    organization = api_client.require(get_organization)
    return screens.render(
        "brand/programs/change.html",
        form or _fill_terms(program),
        program=program,
        home=organization["homeCurrency"],
        minimum=organization["minPayoutCents"],
        minimum_currency=organization["minPayoutCurrency"],
        base=f"/dashboard/programs/{program['id']}",
    )


def _get_program(program_id: str) -> Any:
    program = api_client.require(get_program, path={"program_id": program_id})
    if not api_client.is_allowed(change_program):
        raise Refused(403)
    return program


@form_page(
    blueprint,
    "member",
    "/dashboard/programs/<program_id>/archive",
    Form("", archive_program, to="/dashboard/programs/{program_id}"),
    uses=(get_program,),
)
def show_archive(form: FormState | None, program_id: str) -> Response:
    """Ask for confirmation before a program is archived. Budget: 2 round trips."""
    program = api_client.require(get_program, path={"program_id": program_id})
    if not api_client.is_allowed(archive_program):
        raise Refused(403)
    base = f"/dashboard/programs/{program['id']}"
    return screens.render("brand/programs/archive.html", form, program=program, base=base)
