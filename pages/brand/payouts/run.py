"""One payout run as it goes on: how many are paid, what failed and why, and what an Owner decides about those."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.payouts.decisions import retry_payout, void_payout
from api.payouts.made_runs import get_payout_run
from api.payouts.mass_pay import list_payouts_to_pay
from api.payouts.payouts import list_payouts
from pages import api_client, documents, forms, screens
from pages.brand.payouts import states
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("payout_run_page", __name__)

_ON_A_PAGE = 25
_RUN = "/dashboard/payouts/runs/<run_id>"
_USES = (get_payout_run, list_payouts, retry_payout, void_payout)


@blueprint.get(f"{_RUN}/progress")
@screen("member", uses=_USES)
def show_payout_run_progress(run_id: str) -> Response:
    """Show what moves of a run, alone. Budget: as the page."""
    return screens.render_part("brand/payouts/_progress.html", **_progress(run_id))


def _take_list_to_pay(run_id: str) -> Response | FormState:
    """Give the list of what is paid by hand as a file; from then on no rail is asked for what is on it."""
    claims = "true" if request.form.get("claim") else "false"
    answer = api_client.call(list_payouts_to_pay, query={"runId": run_id, "claim": claims})
    if answer.refusal is not None:
        return replace(forms.form_with_errors({}, answer.refusal.message), status=answer.status)
    file = Response(answer.data, content_type="text/csv; charset=utf-8", headers=documents.page_headers())
    file.headers["Content-Disposition"] = 'attachment; filename="mass-pay.csv"'
    file.vary.add("Cookie")
    return file


_LIST = CustomForm("/by-hand", _take_list_to_pay, (list_payouts_to_pay,))


@form_page(blueprint, "member", _RUN, _LIST, uses=_USES, restores=True)
def show_payout_run(form: FormState | None, run_id: str) -> Response:
    """Show a run, live. Budget: 2 round trips, however many it pays."""
    return screens.render("brand/payouts/run.html", form, **_progress(run_id))


def _progress(run_id: str) -> dict[str, Any]:
    run = api_client.require(get_payout_run, path={"run_id": run_id})
    filters = states.wanted()
    listed = api_client.require(
        list_payouts, query={"runId": run_id, "lineItems": "false", "take": _ON_A_PAGE, **filters}
    )
    moving = run["pendingCount"] + run["processingCount"]
    page = f"/dashboard/payouts/runs/{run['runId']}"
    query = urlencode({name: value for name, value in filters.items() if value})
    return {
        "run": run,
        "payouts": [states.told(payout) for payout in listed["items"]],
        "next_cursor": listed["nextCursor"],
        "page": page,
        "address": f"{page}/progress{'?' if query else ''}{query}",
        "every": "2s" if moving else "10s",
        "statuses": states.STATUSES,
    }
