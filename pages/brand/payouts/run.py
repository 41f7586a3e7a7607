"""The progress of one payout run: the number paid, failures with reasons, and an Owner's decisions about them."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.payouts.decisions import retry_payout, void_payout
from api.payouts.mass_pay import list_payouts_to_pay
from api.payouts.payouts import list_payouts
from api.payouts.run_history import get_payout_run
from pages import api_client, documents, forms, screens
from pages.brand.payouts import states
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("payout_run_page", __name__)

_PER_PAGE = 25
_RUN = "/dashboard/payouts/runs/<run_id>"
_USES = (get_payout_run, list_payouts, retry_payout, void_payout)


@blueprint.get(f"{_RUN}/progress")
@screen("member", uses=_USES)
def show_payout_run_progress(run_id: str) -> Response:
    """Show the progress of a run alone. Budget: as the page."""
    return screens.render_part("brand/payouts/_progress.html", **_run_values(run_id))


def _download_mass_pay(run_id: str) -> Response | FormState:
    """Send the list of payouts to pay by hand as a file; claimed payouts are no longer sent to a payment provider."""
    claims = "true" if request.form.get("claim") else "false"
    answer = api_client.call(list_payouts_to_pay, query={"runId": run_id, "claim": claims})
    if answer.refusal is not None:
        return replace(forms.form_with_errors({}, answer.refusal.message), status=answer.status)
    file = Response(answer.data, content_type="text/csv; charset=utf-8", headers=documents.page_headers())
    file.headers["Content-Disposition"] = 'attachment; filename="mass-pay.csv"'
    file.vary.add("Cookie")
    return file


_LIST = CustomForm("/by-hand", _download_mass_pay, (list_payouts_to_pay,))


@form_page(blueprint, "member", _RUN, _LIST, uses=_USES, restores=True)
def show_payout_run(form: FormState | None, run_id: str) -> Response:
    """Show a run, live. Budget: 2 round trips, however many it pays."""
    return screens.render("brand/payouts/run.html", form, **_run_values(run_id))


def _run_values(run_id: str) -> dict[str, Any]:
    run = api_client.require(get_payout_run, path={"run_id": run_id})
    filters = states.read_filters()
    payouts = api_client.require(
        list_payouts, query={"runId": run_id, "lineItems": "false", "take": _PER_PAGE, **filters}
    )
    moving = run["pendingCount"] + run["processingCount"]
    page = f"/dashboard/payouts/runs/{run['runId']}"
    query = urlencode({name: value for name, value in filters.items() if value})
    return {
        "run": run,
        "payouts": [states.payout_view(payout) for payout in payouts["items"]],
        "next_cursor": payouts["nextCursor"],
        "page": page,
        "address": f"{page}/progress{'?' if query else ''}{query}",
        "every": "2s" if moving else "10s",
        "statuses": states.STATUSES,
    }
