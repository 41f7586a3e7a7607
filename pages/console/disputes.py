"""Disputes about milestones of deals: both sides' words, and how an operator ends it.

What is decided is shown in both amounts before it is done, because it cannot be undone.
"""

from typing import Any

from flask import Blueprint, Response, request

from api.operator.disputes import get_whole_deal, list_disputes, mark_milestone_settled, retry_milestone_refund
from domain.deals.states import MilestoneStatus
from domain.refused import not_found
from pages import calls, forms, kept, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("operator_disputes_page", __name__)

_DEAL = "/console/disputes/<deal_id>"
_SETTLE = f"{_DEAL}/milestones/<seq>/settle"
_REFUND = f"{_DEAL}/milestones/<seq>/refund"
_NAMES = {"toAffiliateCents": "amount"}
_NO_AMOUNT = "Enter an amount, such as 120.50."


@blueprint.get("/console/disputes")
@screen("operator", uses=(list_disputes,))
def show_disputes() -> Response:
    """Show what waits to be settled. Budget: 1 round trip, however much there is."""
    return screens.show("console/disputes.html", disputes=calls.needed(list_disputes))


@blueprint.get(_DEAL)
@screen("operator", uses=(get_whole_deal,))
def show_whole_deal(deal_id: str) -> Response:
    """Show a deal with its disputes, its money and what its source said. Budget: 5 round trips."""
    return screens.show("console/deal.html", deal=_deal(deal_id))


@blueprint.get(_SETTLE)
@screen("operator", uses=(get_whole_deal,))
def show_settlement(deal_id: str, seq: str) -> Response:
    """Show both sides' words with a form that ends the dispute. Budget: 5 round trips."""
    return _settle_page(deal_id, seq, kept.form() or forms.EMPTY)


@blueprint.post(_SETTLE)
@screen("operator", uses=(get_whole_deal, mark_milestone_settled))
def send_settlement(deal_id: str, seq: str) -> Response:
    """Show who gets how much, and once that is confirmed settle the dispute."""
    amount, why = request.form.get("amount", ""), request.form.get("why", "")
    deal = _deal(deal_id)
    part = _part(deal, seq)
    cents = typed.minor(amount, deal["currency"])
    errors = _errors(cents, part, why)
    if errors or part["status"] != MilestoneStatus.Disputed:
        return _settle_page(deal_id, seq, forms.wrong(errors), status=422)
    if request.form.get("confirmed") != str(cents):
        return screens.show("console/settle_deal.html", form=forms.sent(), deal=deal, part=part, cents=cents)
    answer = calls.tried(
        mark_milestone_settled,
        path={"deal_id": deal_id, "seq": seq},
        body={"toAffiliateCents": cents, "why": why},
        key=forms.key(),
    )
    if answer.refusal is None:
        return screens.sent_on(f"/console/disputes/{deal['id']}")
    return _settle_page(deal_id, seq, forms.refused(answer.refusal, _NAMES), status=422)


@blueprint.get(_REFUND)
@screen("operator", uses=(get_whole_deal,))
def show_refund(deal_id: str, seq: str) -> Response:
    """Show what its source refused to give back, with a form to ask once more. Budget: 5 round trips."""
    return _refund_page(deal_id, seq, kept.form() or forms.EMPTY)


@blueprint.post(_REFUND)
@screen("operator", uses=(get_whole_deal, retry_milestone_refund))
def send_refund(deal_id: str, seq: str) -> Response:
    """Ask once more for what goes back."""
    where, why = {"deal_id": deal_id, "seq": seq}, request.form.get("why", "")
    answer = calls.tried(retry_milestone_refund, path=where, body={"why": why}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(f"/console/disputes/{deal_id}")
    return _refund_page(deal_id, seq, forms.refused(answer.refusal), status=422)


def _errors(cents: int | str | None, part: Any, why: str) -> dict[str, str]:
    errors = {}
    if not isinstance(cents, int) or not 0 <= cents <= part["amountCents"]:
        errors["amount"] = _NO_AMOUNT if not isinstance(cents, int) else "It is from 0 to all of the milestone."
    if not why.strip():
        errors["why"] = "Fill this in."
    return errors


def _deal(deal_id: str) -> Any:
    deal = calls.needed(get_whole_deal, path={"deal_id": deal_id})
    last = {one["milestoneId"]: one for one in deal["requests"] if one["kind"] == "refund"}
    return deal | {"refunds": last, "may_ask_again": [id for id, one in last.items() if one["state"] == "rejected"]}


def _part(deal: Any, seq: str) -> Any:
    for part in deal["milestones"]:
        if str(part["seq"]) == seq:
            return part
    raise not_found("milestone")


def _settle_page(deal_id: str, seq: str, form: FormState, *, status: int = 200) -> Response:
    deal = _deal(deal_id)
    part = _part(deal, seq)
    is_open = part["status"] == MilestoneStatus.Disputed
    return screens.show(
        "console/settle_deal.html", status=status, form=form, deal=deal, part=part, cents=None, is_open=is_open
    )


def _refund_page(deal_id: str, seq: str, form: FormState, *, status: int = 200) -> Response:
    deal = _deal(deal_id)
    part = _part(deal, seq)
    refund = deal["refunds"].get(part["id"])
    return screens.show("console/refund_deal.html", status=status, form=form, deal=deal, part=part, refund=refund)
