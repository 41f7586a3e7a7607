"""A new deal: its affiliate, and the amount of each milestone."""

from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.deals.deals import create_deal
from api.programs.programs import list_programs
from domain.money import currencies
from pages import form_values, forms, screens
from pages.brand import choices
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.times import time_fields

blueprint = Blueprint("new_deal_page", __name__)

# Milestones of the form; a deal with more is created by the API.
_PARTS = range(1, 6)


def _read_deal() -> Body | FormState:
    program_id = request.form.get("programId", "")
    currency = currencies.normalize(request.form.get("currency", ""))
    affiliate_id = choices.find_affiliate_id(request.form.get("email", ""), program_id)
    errors = {}
    if affiliate_id is None:
        errors["email"] = choices.UNKNOWN_AFFILIATE
    if currency is None:
        errors["currency"] = "Enter a three-letter code, such as USD."
    if affiliate_id is None or currency is None:
        return forms.form_with_errors(errors)
    return {
        "affiliateId": affiliate_id,
        "programId": program_id,
        "title": request.form.get("title", ""),
        "currency": currency,
        "milestones": _read_milestones(currency),
    }


def _read_milestones(currency: str) -> list[dict[str, Any]]:
    """Return the milestones with any typed value."""
    rows = [
        [request.form.get(f"{name}{number}", "").strip() for name in ("title", "amount", "due")] for number in _PARTS
    ]
    return [
        {
            "title": title,
            "amountCents": form_values.parse_amount(amount, currency),
            "dueAt": time_fields.parse_day_end(due or None),
        }
        for title, amount, due in rows
        if title or amount or due
    ]


_NEW = Form("", create_deal, _read_deal, to="/dashboard/deals/{id}", done="made", names={"milestones": "title1"})


@form_page(blueprint, "member", "/dashboard/deals/new", _NEW, uses=(list_affiliates, list_programs))
def ask_for_deal(form: FormState | None) -> Response:
    """Show the form. Budget: 1 round trip."""
    form = form or forms.prefill(currency="USD", programId=request.args.get("programId"))
    return screens.render("brand/deal_new.html", form, programs=choices.list_program_choices(), parts=_PARTS)
