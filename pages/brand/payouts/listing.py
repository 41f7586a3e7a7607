"""Payouts at the dashboard: whether the brand may pay, drafts of the schedule, runs, all payouts, and bulk retries."""

from flask import Blueprint, Response, request

from api.payouts.decisions import retry_payout, void_payout
from api.payouts.drafts import dismiss_payout_draft, list_payout_drafts
from api.payouts.export import export_payouts
from api.payouts.payouts import get_funding_status, list_payouts
from api.payouts.run_history import list_payout_runs
from api.payouts.runs import preview_payouts, run_payouts
from api.programs.programs import list_programs
from domain.payouts.states import PayoutStatus
from pages import api_client, screens
from pages.brand import bulk_changes, choices
from pages.brand.payouts import states
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState
from pages.list_pages import ListView, RowList
from pages.screens import screen

blueprint = Blueprint("payout_desk_page", __name__)

_HERE = "/dashboard/payouts"
_MAX_RUNS, _MAX_PAYOUTS = 5, 20
_VIEWS = (
    ListView("All"),
    ListView(PayoutStatus.Pending.value, {"status": PayoutStatus.Pending.value}),
    ListView(PayoutStatus.Failed.value, {"status": PayoutStatus.Failed.value}),
    ListView(PayoutStatus.Paid.value, {"status": PayoutStatus.Paid.value}),
    ListView("Largest", {"sort": "largest"}),
)
_PAYOUTS = RowList(
    list_payouts,
    ("status", "programId", "affiliateId", "since", "until"),
    ("sort",),
    {"lineItems": "false", "take": _MAX_PAYOUTS},
    days=("since", "until"),
    views=_VIEWS,
)
_READS = (get_funding_status, list_payout_drafts, list_payout_runs, list_payouts, list_programs)
_OFFERS = (preview_payouts, retry_payout, run_payouts, void_payout)


def _dismiss_draft() -> Response | FormState:
    """Dismiss a prepared draft: nothing is paid."""
    answer = api_client.call(dismiss_payout_draft, path={"draft_id": request.form.get("draft") or "none"})
    if answer.refusal is None:
        return screens.redirect(_HERE)
    return FormState(alert="This run was paid or dismissed already.", status=answer.status)


def _retry_selected() -> Response | FormState:
    """Retry each selected failed payout, and redirect to the list in its filter with the counts."""
    counts = bulk_changes.decide_each("retry", retry_payout, rows="failed payouts", parameter="payout_id", body={})
    if isinstance(counts, FormState):
        return counts
    return bulk_changes.redirect_with_counts(_PAYOUTS.filtered_address(_HERE), counts)


@form_page(
    blueprint,
    "member",
    _HERE,
    CustomForm("/dismiss", _dismiss_draft, (dismiss_payout_draft,)),
    CustomForm("/retry", _retry_selected, (retry_payout,)),
    uses=(*_READS, *_OFFERS),
    restores=True,
)
def show_payouts(form: FormState | None) -> Response:
    """Show payouts by the filter in the address. Budget: 7 round trips, however many there are."""
    page = _PAYOUTS.read()
    return screens.render(
        "brand/payouts/desk.html",
        page.form or form,
        funding=api_client.require(get_funding_status),
        drafts=api_client.require(list_payout_drafts) if api_client.is_allowed(list_payout_drafts) else (),
        runs=api_client.require(list_payout_runs, query={"take": _MAX_RUNS, "cursor": request.args.get("runs")}),
        payouts=[states.payout_view(payout) for payout in page.rows],
        next_cursor=page.next_cursor,
        views=page.views,
        query=_PAYOUTS.filtered_address(""),
        outcome_counts=bulk_changes.read_counts(("retry",)),
        statuses=states.STATUSES,
        programs=choices.list_program_choices(),
        file=_PAYOUTS.filtered_address(f"{_HERE}/export.csv"),
    )


@blueprint.get(f"{_HERE}/export.csv")
@screen("member", uses=(export_payouts,))
def show_payouts_file() -> Response:
    """Stream the list as a file; a refused filter redirects to the list, which shows the error."""
    return _PAYOUTS.send_file(export_payouts, back=_PAYOUTS.filtered_address(_HERE))
