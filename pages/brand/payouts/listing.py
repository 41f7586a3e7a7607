"""Payouts at the dashboard: whether the brand may pay, drafts of the payout schedule, runs, and all payouts."""

from flask import Blueprint, Response, request

from api.payouts.decisions import retry_payout, void_payout
from api.payouts.drafts import dismiss_payout_draft, list_payout_drafts
from api.payouts.payouts import get_funding_status, list_payouts
from api.payouts.run_history import list_payout_runs
from api.payouts.runs import run_payouts
from pages import api_client, screens
from pages.brand.payouts import states
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState

blueprint = Blueprint("payout_desk_page", __name__)

_MAX_RUNS, _MAX_PAYOUTS = 5, 20
_READS = (get_funding_status, list_payout_drafts, list_payout_runs, list_payouts)
_OFFERS = (retry_payout, run_payouts, void_payout)


def _dismiss_draft() -> Response | FormState:
    """Dismiss a prepared draft: nothing is paid."""
    answer = api_client.call(dismiss_payout_draft, path={"draft_id": request.form.get("draft") or "none"})
    if answer.refusal is None:
        return screens.redirect("/dashboard/payouts")
    return FormState(alert="It was paid or put away already.", status=answer.status)


@form_page(
    blueprint,
    "member",
    "/dashboard/payouts",
    CustomForm("/dismiss", _dismiss_draft, (dismiss_payout_draft,)),
    uses=(*_READS, *_OFFERS),
)
def show_payouts(form: FormState | None) -> Response:
    """Show payouts, newest first. Budget: 6 round trips, however many there are."""
    payouts = api_client.require(
        list_payouts, query={"lineItems": "false", "take": _MAX_PAYOUTS, **states.read_filters()}
    )
    return screens.render(
        "brand/payouts/desk.html",
        form,
        funding=api_client.require(get_funding_status),
        drafts=api_client.require(list_payout_drafts) if api_client.is_allowed(list_payout_drafts) else (),
        runs=api_client.require(list_payout_runs, query={"take": _MAX_RUNS, "cursor": request.args.get("runs")}),
        payouts=[states.payout_view(payout) for payout in payouts["items"]],
        next_cursor=payouts["nextCursor"],
        statuses=states.STATUSES,
    )
