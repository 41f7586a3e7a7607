"""One payout run as it goes on: how many are paid, what failed and why, and what an Owner decides about those."""

from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.payouts.decisions import retry_payout, void_payout
from api.payouts.made_runs import get_payout_run
from api.payouts.mass_pay import list_payouts_to_pay
from api.payouts.payouts import list_payouts
from pages import calls, documents, forms, fragments, kept, screens
from pages.brand.payouts import states
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("payout_run_page", __name__)

_ON_A_PAGE = 25
_RUN = "/dashboard/payouts/runs/<run_id>"
_USES = (get_payout_run, list_payouts, retry_payout, void_payout, list_payouts_to_pay)


@blueprint.get(_RUN)
@screen("member", uses=_USES)
def show_payout_run(run_id: str) -> Response:
    """Show a run, live. Budget: 2 round trips, however many it pays."""
    return _shown(run_id, kept.form() or forms.EMPTY)


@blueprint.get(f"{_RUN}/progress")
@screen("member", uses=_USES)
def show_payout_run_progress(run_id: str) -> Response:
    """Show what moves of a run, alone. Budget: as the page."""
    return fragments.show("brand/payouts/_progress.html", **_progress(run_id))


@blueprint.post(f"{_RUN}/by-hand")
@screen("member", uses=_USES)
def take_list_to_pay(run_id: str) -> Response:
    """Give the list of what is paid by hand as a file; from then on no rail is asked for what is on it."""
    claims = "true" if request.form.get("claim") else "false"
    answer = calls.call(list_payouts_to_pay, query={"runId": run_id, "claim": claims})
    if answer.refusal is not None:
        return _shown(run_id, forms.wrong({}, answer.refusal.message), status=answer.status)
    file = Response(answer.data, content_type="text/csv; charset=utf-8", headers=documents.headers())
    file.headers["Content-Disposition"] = 'attachment; filename="mass-pay.csv"'
    file.vary.add("Cookie")
    return file


def _shown(run_id: str, form: FormState, *, status: int = 200) -> Response:
    shown = _progress(run_id) | {"list_payouts_to_pay": list_payouts_to_pay}
    return screens.show("brand/payouts/run.html", status=status, form=form, **shown)


def _progress(run_id: str) -> dict[str, Any]:
    run = calls.needed(get_payout_run, path={"run_id": run_id})
    wanted = states.wanted()
    listed = calls.needed(list_payouts, query={"runId": run_id, "lineItems": "false", "take": _ON_A_PAGE, **wanted})
    moving = run["pendingCount"] + run["processingCount"]
    page = f"/dashboard/payouts/runs/{run['runId']}"
    query = urlencode({name: value for name, value in wanted.items() if value})
    return {
        "run": run,
        "payouts": [states.told(one) for one in listed["items"]],
        "cursor": listed["nextCursor"],
        "page": page,
        "address": f"{page}/progress{'?' if query else ''}{query}",
        "retry_payout": retry_payout,
        "void_payout": void_payout,
        "every": "2s" if moving else "10s",
        "statuses": states.STATUSES,
    }
