"""Disputes about milestones of deals: both sides' statements, and the operator's settlement.

Both amounts of a settlement are shown before it is confirmed, because it cannot be undone.
"""

from typing import Any

from flask import Blueprint, Response, request

from api.operator.disputes import get_whole_deal, list_disputes, mark_milestone_settled, retry_milestone_refund
from domain.deals.states import MilestoneStatus
from domain.refusals import not_found
from pages import api_client, form_values, forms, screens
from pages.form_pages import CustomForm, Form, form_page, read_texts, send
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("operator_disputes_page", __name__)

_DEAL = "/console/disputes/<deal_id>"
_PART = f"{_DEAL}/milestones/<seq>"
_RETRY = Form("", retry_milestone_refund, read_texts("why"), to="/console/disputes/{deal_id}")


@blueprint.get("/console/disputes")
@screen("operator", uses=(list_disputes,))
def show_disputes() -> Response:
    """Show open disputes. Budget: 1 round trip, however much there is."""
    return screens.render("console/disputes.html", disputes=api_client.require(list_disputes))


@blueprint.get(_DEAL)
@screen("operator", uses=(get_whole_deal,))
def show_whole_deal(deal_id: str) -> Response:
    """Show a deal with its disputes, its money and the messages of its payment source. Budget: 5 round trips."""
    return screens.render("console/deal.html", deal=_get_deal(deal_id))


def _settle_milestone(deal_id: str, seq: str) -> Response | FormState:
    """Show both amounts, and settle the dispute once they are confirmed."""
    why = request.form.get("why", "")
    deal = _get_deal(deal_id)
    part = _get_milestone(deal, seq)
    cents = form_values.parse_amount(request.form.get("amount", ""), deal["currency"])
    errors = _find_errors(cents, part, why)
    if errors or part["status"] != MilestoneStatus.Disputed:
        return forms.form_with_errors(errors)
    if request.form.get("confirmed") != str(cents):
        return screens.render("console/settle_deal.html", forms.form_from_request(), deal=deal, part=part, cents=cents)
    body = {"toAffiliateCents": cents, "why": why}
    answer = send(mark_milestone_settled, path={"deal_id": deal_id, "seq": seq}, body=body)
    if answer.refusal is None:
        return screens.redirect(f"/console/disputes/{deal['id']}")
    return forms.form_from_refusal(answer, {"toAffiliateCents": "amount"})


def _find_errors(cents: int | str | None, part: Any, why: str) -> dict[str, str]:
    errors = {}
    if not isinstance(cents, int):
        errors["amount"] = "Enter an amount, such as 120.50."
    elif not 0 <= cents <= part["amountCents"]:
        errors["amount"] = "Enter an amount from 0 to the milestone's fee."
    if not why.strip():
        errors["why"] = "This field is required."
    return errors


@form_page(
    blueprint,
    "operator",
    f"{_PART}/settle",
    CustomForm("", _settle_milestone, (mark_milestone_settled,)),
    uses=(get_whole_deal,),
    restores=True,
)
def show_settlement(form: FormState | None, deal_id: str, seq: str) -> Response:
    """Show both sides' statements with a form that settles the dispute. Budget: 5 round trips."""
    deal = _get_deal(deal_id)
    part = _get_milestone(deal, seq)
    is_open = part["status"] == MilestoneStatus.Disputed
    return screens.render("console/settle_deal.html", form, deal=deal, part=part, cents=None, is_open=is_open)


@form_page(blueprint, "operator", f"{_PART}/refund", _RETRY, uses=(get_whole_deal,), restores=True)
def show_refund(form: FormState | None, deal_id: str, seq: str) -> Response:
    """Show a refund that the payment source refused, with a form to retry it. Budget: 5 round trips."""
    deal = _get_deal(deal_id)
    part = _get_milestone(deal, seq)
    return screens.render(
        "console/refund_deal.html", form, deal=deal, part=part, refund=deal["refunds"].get(part["id"])
    )


def _get_deal(deal_id: str) -> Any:
    deal = api_client.require(get_whole_deal, path={"deal_id": deal_id})
    refunds = {row["milestoneId"]: row for row in deal["requests"] if row["kind"] == "refund"}
    return deal | {
        "refunds": refunds,
        "may_ask_again": [id for id, row in refunds.items() if row["state"] == "rejected"],
    }


def _get_milestone(deal: Any, seq: str) -> Any:
    for part in deal["milestones"]:
        if str(part["seq"]) == seq:
            return part
    raise not_found("milestone")
