"""A conversion recorded by hand: a sale that was not tracked, a bonus, or a sale that had no affiliate."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.conversions.manual import create_conversion
from api.conversions.uncredited_sales import dismiss_uncredited_conversion, list_uncredited_conversions
from api.organization.organization import get_organization
from api.programs.programs import list_programs
from domain.money import currencies
from domain.refusals import Refused
from pages import api_client, form_values, forms, screens
from pages.brand import choices
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.times import time_fields

blueprint = Blueprint("new_conversion_page", __name__)

# Form fields of the API's fields: the form has major units and names of people.
_NAMES: Mapping[str, str] = {"amountCents": "amount", "commissionCents": "commission", "affiliateId": "affiliate"}


def _fill_from_uncredited(uncredited_id: str) -> FormState | None:
    if not uncredited_id:
        return None
    rows = api_client.require(list_uncredited_conversions)
    row = next((row for row in rows if row["id"] == uncredited_id), None)
    if row is None:
        return None
    return forms.prefill(
        uncredited=row["id"],
        kind="sale",
        programId=row["programId"],
        affiliate=row["affiliateEmail"],
        amount=form_values.format_amount(row["amountCents"], row["currency"]),
        currency=row["currency"],
        occurredAt=time_fields.format_local_time(row["occurredAt"]),
    )


def _find_affiliate(form: FormState) -> str | FormState:
    """Return the id of the affiliate to credit, or the form with an error."""
    query_text = form.value("affiliate").strip()
    if not query_text:
        return forms.form_with_errors({"affiliate": "Enter the affiliate's email."})
    query = {"programId": form.value("programId") or "-", "q": query_text, "take": 200}
    answer = api_client.call(list_affiliates, query=query)
    if answer.refusal is not None:
        return forms.form_from_refusal(answer, {"q": "affiliate"})
    for candidate in answer.data["items"]:
        if query_text.lower() in (candidate["email"], candidate["fullName"].lower()):
            return str(candidate["id"])
    return forms.form_with_errors({"affiliate": "No affiliate in this program has this email or name."})


def _read_body(form: FormState, affiliate_id: str) -> Mapping[str, Any]:
    code = form.value("currency").strip() or api_client.require(get_organization)["homeCurrency"]
    # In an unknown currency every amount is invalid: the API reports it, whatever the amount.
    currency = currencies.normalize(code) or "USD"
    return {
        "programId": form.value("programId"),
        "affiliateId": affiliate_id,
        "kind": form.value("kind") or None,
        "amountCents": form_values.parse_amount(form.value("amount"), currency),
        "commissionCents": form_values.parse_amount(form.value("commission"), currency),
        "currency": code,
        "customerEmail": form.value("customerEmail").strip() or None,
        "occurredAt": time_fields.parse_local_time(form.value("occurredAt").strip() or None),
        "note": form.value("note").strip() or None,
    }


def _create_conversion() -> Response | FormState:
    """Record the conversion; the uncredited sale that it replaces is dismissed."""
    form = forms.form_from_request()
    affiliate = _find_affiliate(form)
    if isinstance(affiliate, FormState):
        return affiliate
    answer = send(create_conversion, body=_read_body(form, affiliate))
    if answer.refusal is not None:
        return _render_form(forms.form_from_refusal(answer, _NAMES), affiliate)
    if form.value("uncredited"):
        api_client.call(dismiss_uncredited_conversion, path={"uncredited_id": form.value("uncredited")})
    return screens.redirect(f"/dashboard/conversions/{answer.data['conversion']['id']}")


@form_page(
    blueprint,
    "member",
    "/dashboard/conversions/new",
    CustomForm("", _create_conversion, (create_conversion, dismiss_uncredited_conversion)),
    uses=(get_organization, list_affiliates, list_programs, list_uncredited_conversions),
)
def show_new_conversion(form: FormState | None) -> Response:
    """Show the form, filled in from an uncredited sale if the address has one. Budget: 3 round trips."""
    if form is None:
        home = api_client.require(get_organization)["homeCurrency"]
        form = _fill_from_uncredited(request.args.get("uncredited", "")) or forms.prefill(kind="sale", currency=home)
    return _render_form(form)


def _render_form(form: FormState, affiliate_id: str | None = None) -> Response:
    if not api_client.is_allowed(create_conversion):
        raise Refused(403)
    programs = choices.list_program_choices()
    return screens.render("brand/conversions/new.html", form, programs=programs, affiliate_id=affiliate_id)
