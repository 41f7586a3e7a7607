"""One payout: what it pays for line by line, at which rates of which days, and what an Owner decides about it."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.payouts.decisions import mark_payout_paid, retry_payout, void_payout
from api.payouts.payouts import get_payout, list_payout_lines
from domain.payouts.states import PayoutStatus
from pages import calls, forms, fragments, kept, screens
from pages.brand.payouts import states
from pages.calls import View
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("payout_page", __name__)

_PAYOUT = "/dashboard/payouts/<payout_id>"
_USES = (get_payout, list_payout_lines, retry_payout, void_payout, mark_payout_paid)


@blueprint.get(_PAYOUT)
@screen("member", uses=_USES)
def show_payout(payout_id: str) -> Response:
    """Show a payout. Budget: 2 round trips, however many lines it has."""
    return _shown(payout_id, kept.form() or forms.EMPTY)


@blueprint.get(f"{_PAYOUT}/state")
@screen("member", uses=_USES)
def show_payout_state(payout_id: str) -> Response:
    """Show where a payout stands, alone. Budget: 2 round trips."""
    return fragments.show("brand/payouts/_state.html", **_state(payout_id))


@blueprint.post(f"{_PAYOUT}/retry")
@screen("member", uses=_USES)
def send_payout_again(payout_id: str) -> Response:
    """Send a failed payout again."""
    return _decided(payout_id, retry_payout, {})


@blueprint.post(f"{_PAYOUT}/void")
@screen("member", uses=_USES)
def let_payout_go(payout_id: str) -> Response:
    """Give a payout up: what it was to pay is due again."""
    return _decided(payout_id, void_payout, {})


@blueprint.post(f"{_PAYOUT}/mark-paid")
@screen("member", uses=_USES)
def say_payout_was_paid(payout_id: str) -> Response:
    """Say that the brand paid it by hand, and what its payment is called."""
    return _decided(payout_id, mark_payout_paid, {"externalTransactionId": request.form.get("reference", "")})


def _decided(payout_id: str, view: View, body: Mapping[str, Any]) -> Response:
    answer = calls.call(view, path={"payout_id": payout_id}, body=body, key=forms.key())
    if answer.refusal is None:
        return screens.sent_on(kept.page() if "_page" in request.form else f"/dashboard/payouts/{payout_id}")
    refused = forms.refused(answer.refusal, {"externalTransactionId": "reference"})
    return _shown(payout_id, refused, status=answer.status)


def _shown(payout_id: str, form: FormState, *, status: int = 200) -> Response:
    shown = _state(payout_id)
    lines = calls.needed(list_payout_lines, path={"payout_id": payout_id}, query={"cursor": request.args.get("cursor")})
    return screens.show(
        "brand/payouts/payout.html",
        status=status,
        form=form,
        lines=lines["items"],
        cursor=lines["nextCursor"],
        mark_payout_paid=mark_payout_paid,
        **shown,
    )


def _state(payout_id: str) -> dict[str, Any]:
    payout = calls.needed(get_payout, path={"payout_id": payout_id}, query={"lineItems": "false"})
    return {
        "payout": states.told(payout),
        "page": f"/dashboard/payouts/{payout['id']}",
        "every": "2s" if payout["status"] in (PayoutStatus.Pending, PayoutStatus.Processing) else "10s",
        "retry_payout": retry_payout,
        "void_payout": void_payout,
    }
