"""Payouts at the dashboard: whether the brand may pay, what a cadence prepared, the runs, and every payout."""

from flask import Blueprint, Response, request

from api.payouts.decisions import retry_payout, void_payout
from api.payouts.drafts import dismiss_payout_draft, list_payout_drafts
from api.payouts.made_runs import list_payout_runs
from api.payouts.payouts import get_funding_status, list_payouts
from api.payouts.runs import run_payouts
from pages import calls, forms, screens
from pages.brand.payouts import states
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("payout_desk_page", __name__)

_RUNS, _PAYOUTS = 5, 20
_USES = (
    get_funding_status,
    list_payout_drafts,
    dismiss_payout_draft,
    list_payout_runs,
    list_payouts,
    retry_payout,
    void_payout,
    run_payouts,
)


@blueprint.get("/dashboard/payouts")
@screen("member", uses=_USES)
def show_payouts() -> Response:
    """Show payouts, newest first. Budget: 6 round trips, however many there are."""
    return _shown(forms.EMPTY)


@blueprint.post("/dashboard/payouts/dismiss")
@screen("member", uses=_USES)
def dismiss_draft() -> Response:
    """Put away what a cadence prepared: nothing is paid."""
    answer = calls.call(dismiss_payout_draft, path={"draft_id": request.form.get("draft") or "none"})
    if answer.refusal is None:
        return screens.sent_on("/dashboard/payouts")
    return _shown(forms.wrong({}, "It was paid or put away already."), status=answer.status)


def _shown(form: FormState, *, status: int = 200) -> Response:
    wanted = states.wanted()
    listed = calls.needed(list_payouts, query={"lineItems": "false", "take": _PAYOUTS, **wanted})
    return screens.show(
        "brand/payouts/desk.html",
        status=status,
        form=form,
        funding=calls.needed(get_funding_status),
        drafts=calls.needed(list_payout_drafts) if calls.may(list_payout_drafts) else (),
        runs=calls.needed(list_payout_runs, query={"take": _RUNS, "cursor": request.args.get("runs")}),
        payouts=[states.told(one) for one in listed["items"]],
        cursor=listed["nextCursor"],
        statuses=states.STATUSES,
        retry_payout=retry_payout,
        void_payout=void_payout,
        run_payouts=run_payouts,
        dismiss_payout_draft=dismiss_payout_draft,
    )
