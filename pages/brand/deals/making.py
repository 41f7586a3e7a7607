"""A new deal: for whom, and what is paid for which part of the work."""

from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import list_affiliates
from api.deals.deals import create_deal
from api.programs.programs import list_programs
from domain.money import currencies
from pages import calls, forms, screens, typed
from pages.brand import choices
from pages.forms import FormState
from pages.screens import screen
from pages.times import entered

blueprint = Blueprint("new_deal_page", __name__)

_HERE = "/dashboard/deals/new"
_USES = (create_deal, list_affiliates, list_programs)
#: So many parts has the form; a deal of more is made by the API.
_PARTS = range(1, 6)


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def ask_for_deal() -> Response:
    """Show the form. Budget: 1 round trip."""
    return _shown(200, forms.blank(currency="USD", programId=request.args.get("programId")))


@blueprint.post(_HERE)
@screen("member", uses=_USES)
def make_deal() -> Response:
    """Draft a deal."""
    program_id = request.form.get("programId", "")
    currency = currencies.normalize(request.form.get("currency", ""))
    affiliate_id = choices.affiliate(request.form.get("email", ""), program_id)
    errors = {}
    if affiliate_id is None:
        errors["email"] = "No affiliate of this program has this email."
    if currency is None:
        errors["currency"] = "Three letters, such as USD."
    if affiliate_id is None or currency is None:
        return _shown(422, forms.wrong(errors))
    body = {
        "affiliateId": affiliate_id,
        "programId": program_id,
        "title": request.form.get("title", ""),
        "currency": currency,
        "milestones": _milestones(currency),
    }
    answer = calls.tried(create_deal, body=body, key=forms.key())
    if answer.refusal:
        return _shown(answer.status, forms.refused(answer.refusal, {"milestones": "title1"}))
    return screens.sent_on(f"/dashboard/deals/{answer.data['id']}?done=made")


def _milestones(currency: str) -> list[dict[str, Any]]:
    """Return the parts of which anything was typed."""
    rows = [
        [request.form.get(f"{name}{number}", "").strip() for name in ("title", "amount", "due")] for number in _PARTS
    ]
    return [
        {"title": title, "amountCents": typed.minor(amount, currency), "dueAt": entered.day_end(due or None)}
        for title, amount, due in rows
        if title or amount or due
    ]


def _shown(status: int, form: FormState) -> Response:
    return screens.show(
        "brand/deal_new.html",
        status=status,
        form=form,
        programs=choices.programs(),
        parts=_PARTS,
        may_make=calls.may(create_deal),
    )
