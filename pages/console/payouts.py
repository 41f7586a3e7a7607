"""Payouts that wait for an operator: runs to review, payouts whose rail never says, what rails said by themselves.

A decision is a page of its own with a reason.
"""

from typing import Any

from flask import Blueprint, Response, request

from api.operator.payouts import (
    get_payout_asked,
    list_doubtful_payouts,
    list_rail_events,
    list_runs_to_review,
    mark_payout_settled,
    submit_run_review,
)
from domain.refused import not_found
from pages import calls, forms, kept, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("operator_payouts_page", __name__)

_PAYOUTS = "/console/payouts"
# The fields of the operation, of which one is sent.
_ENDS = ("paidAs", "failedBecause")


@blueprint.get("/console/payouts")
@screen("operator", uses=(list_runs_to_review, list_doubtful_payouts, list_rail_events))
def show_waiting_payouts() -> Response:
    """Show what waits. Budget: 3 round trips, however much there is."""
    return screens.show(
        "console/payouts.html",
        runs=calls.needed(list_runs_to_review),
        doubtful=calls.needed(list_doubtful_payouts),
        events=calls.needed(list_rail_events),
    )


@blueprint.get("/console/payouts/runs/<run_id>")
@screen("operator", uses=(list_runs_to_review,))
def show_review(run_id: str) -> Response:
    """Show a run with a form to decide about it. Budget: 1 round trip, 4 for one that is decided."""
    return _review_page(run_id, kept.form() or forms.EMPTY)


@blueprint.post("/console/payouts/runs/<run_id>")
@screen("operator", uses=(list_runs_to_review, submit_run_review))
def send_review(run_id: str) -> Response:
    """Approve or reject a run."""
    body = {"decision": request.form.get("decision", ""), "why": request.form.get("why", "")}
    answer = calls.tried(submit_run_review, path={"run_id": run_id}, body=body, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_PAYOUTS)
    return _review_page(run_id, forms.refused(answer.refusal), status=422)


@blueprint.get("/console/payouts/<payout_id>/settle")
@screen("operator", uses=(get_payout_asked,))
def show_settle(payout_id: str) -> Response:
    """Show what the rail of a payout was asked and when, with a form to say how it ended.

    Budget: 3 round trips.
    """
    return _settle_page(payout_id, kept.form() or forms.EMPTY)


@blueprint.post("/console/payouts/<payout_id>/settle")
@screen("operator", uses=(get_payout_asked, mark_payout_settled))
def send_settle(payout_id: str) -> Response:
    """Say how a payout ended."""
    said, name = request.form.get("said", ""), request.form.get("end", "")
    if name not in _ENDS:
        return _settle_page(payout_id, forms.wrong({"end": "Say whether it was paid."}), status=422)
    answer = calls.tried(mark_payout_settled, path={"payout_id": payout_id}, body={name: said}, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(_PAYOUTS)
    return _settle_page(payout_id, forms.refused(answer.refusal, {name: "said"}), status=422)


def _review_page(run_id: str, form: FormState, *, status: int = 200) -> Response:
    return screens.show("console/review.html", status=status, form=form, run=_run(run_id))


def _run(run_id: str) -> Any:
    for waiting in ("true", "false"):
        found = calls.needed(list_runs_to_review, query={"waiting": waiting})
        for run in found:
            if run["id"] == run_id:
                return run
    raise not_found("run")


def _settle_page(payout_id: str, form: FormState, *, status: int = 200) -> Response:
    payout = calls.needed(get_payout_asked, path={"payout_id": payout_id})
    return screens.show("console/settle.html", status=status, form=form, payout=payout)
