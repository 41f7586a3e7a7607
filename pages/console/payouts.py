"""Payouts that wait for an operator: runs to review, payouts with an unknown result, events of payment providers.

Each decision has a page of its own with a reason.
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
from domain.refusals import not_found
from pages import api_client, forms, screens
from pages.form_pages import CustomForm, Form, form_page, read_texts, send_form
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("operator_payouts_page", __name__)

_PAYOUTS = "/console/payouts"
_REVIEW = Form("", submit_run_review, read_texts("decision", "why"), to=_PAYOUTS)


@blueprint.get(_PAYOUTS)
@screen("operator", uses=(list_runs_to_review, list_doubtful_payouts, list_rail_events))
def show_waiting_payouts() -> Response:
    """Show waiting runs, payouts and events. Budget: 3 round trips, however much there is."""
    return screens.render(
        "console/payouts.html",
        runs=api_client.require(list_runs_to_review),
        doubtful=api_client.require(list_doubtful_payouts),
        events=api_client.require(list_rail_events),
    )


@form_page(blueprint, "operator", f"{_PAYOUTS}/runs/<run_id>", _REVIEW, uses=(list_runs_to_review,), restores=True)
def show_review(form: FormState | None, run_id: str) -> Response:
    """Show a run with a form to decide about it. Budget: 1 round trip, 4 for a decided one."""
    return screens.render("console/review.html", form, run=_find_run(run_id))


def _find_run(run_id: str) -> Any:
    for waiting in ("true", "false"):
        for run in api_client.require(list_runs_to_review, query={"waiting": waiting}):
            if run["id"] == run_id:
                return run
    raise not_found("run")


def _settle_payout(payout_id: str) -> Response | FormState:
    """Record the result of a payout: `end` is the field of the operation to send."""
    name = request.form.get("end", "")
    if name not in ("paidAs", "failedBecause"):
        return forms.form_with_errors({"end": "Choose a result."})
    body = {name: request.form.get("said", "")}
    return send_form(mark_payout_settled, path={"payout_id": payout_id}, body=body, to=_PAYOUTS, names={name: "said"})


@form_page(
    blueprint,
    "operator",
    f"{_PAYOUTS}/<payout_id>/settle",
    CustomForm("", _settle_payout, (mark_payout_settled,)),
    uses=(get_payout_asked,),
    restores=True,
)
def show_settle(form: FormState | None, payout_id: str) -> Response:
    """Show the requests to a payout's payment provider, with a form to record the result. Budget: 3 round trips."""
    payout = api_client.require(get_payout_asked, path={"payout_id": payout_id})
    return screens.render("console/settle.html", form, payout=payout)
