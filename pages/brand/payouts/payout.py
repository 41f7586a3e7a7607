"""One payout: its lines with their rates and days, and the decisions of an Owner about it."""

from typing import Any

from flask import Blueprint, Response, request

from api.payouts.decisions import mark_payout_paid, retry_payout, void_payout
from api.payouts.payouts import get_payout, list_payout_lines
from domain.payouts.states import PayoutStatus
from pages import api_client, forms, pending_forms, screens
from pages.api_client import View
from pages.brand.payouts import states
from pages.form_pages import Body, CustomForm, form_page, send
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("payout_page", __name__)

_PAYOUT = "/dashboard/payouts/<payout_id>"
_READS = (get_payout, list_payout_lines)


@blueprint.get(f"{_PAYOUT}/state")
@screen("member", uses=(*_READS, retry_payout, void_payout))
def show_payout_state(payout_id: str) -> Response:
    """Show the status of a payout alone. Budget: 2 round trips."""
    return screens.render_part("brand/payouts/_state.html", **_payout_values(payout_id))


def _retry(payout_id: str) -> Response | FormState:
    """Retry a failed payout."""
    return _decide(payout_id, retry_payout, {})


def _void(payout_id: str) -> Response | FormState:
    """Void a payout: its amount is due again."""
    return _decide(payout_id, void_payout, {})


def _mark_paid(payout_id: str) -> Response | FormState:
    """Mark a payout as paid by hand, with the reference of the payment."""
    return _decide(payout_id, mark_payout_paid, {"externalTransactionId": request.form.get("reference", "")})


def _decide(payout_id: str, operation: View, body: Body) -> Response | FormState:
    """Send a decision about a payout, and redirect to the page of the form."""
    answer = send(operation, path={"payout_id": payout_id}, body=body, shows_all=True)
    if answer.refusal is None:
        return screens.redirect(
            pending_forms.page_of_form() if "_page" in request.form else f"/dashboard/payouts/{payout_id}"
        )
    return forms.form_from_refusal(answer, {"externalTransactionId": "reference"})


_FORMS = (
    CustomForm("/retry", _retry, (retry_payout,)),
    CustomForm("/void", _void, (void_payout,)),
    CustomForm("/mark-paid", _mark_paid, (mark_payout_paid,)),
)


@form_page(blueprint, "member", _PAYOUT, *_FORMS, uses=_READS, restores=True)
def show_payout(form: FormState | None, payout_id: str) -> Response:
    """Show a payout. Budget: 2 round trips, however many lines it has."""
    values = _payout_values(payout_id)
    lines = api_client.require(
        list_payout_lines, path={"payout_id": payout_id}, query={"cursor": request.args.get("cursor")}
    )
    return screens.render(
        "brand/payouts/payout.html", form, lines=lines["items"], next_cursor=lines["nextCursor"], **values
    )


def _payout_values(payout_id: str) -> dict[str, Any]:
    payout = api_client.require(get_payout, path={"payout_id": payout_id}, query={"lineItems": "false"})
    return {
        "payout": states.payout_view(payout),
        "page": f"/dashboard/payouts/{payout['id']}",
        "every": "2s" if payout["status"] in (PayoutStatus.Pending, PayoutStatus.Processing) else "10s",
    }
