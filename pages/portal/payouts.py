"""Payouts of an affiliate: the list, and each with its lines, rates and days."""

from flask import Blueprint, Response, request

from api.me.receipts import get_own_payout, list_own_payouts
from pages import api_client
from pages.list_pages import RowList
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_payouts_page", __name__)

_PAYOUTS = RowList(list_own_payouts)
_LINES_PER_PAGE = 100


@blueprint.get("/portal/payouts")
@screen("account", uses=(*frame.USES, list_own_payouts))
def show_own_payouts() -> Response:
    """Show the payouts, newest first. Budget: 2 round trips, however many there are."""
    return frame.render("payouts.html", **_PAYOUTS.require().values())


@blueprint.get("/portal/payouts/<payout_id>")
@screen("account", uses=(*frame.USES, get_own_payout))
def show_own_payout(payout_id: str) -> Response:
    """Show one payout with its lines, a hundred a page. Budget: 6 round trips."""
    payout = api_client.require(get_own_payout, path={"payout_id": payout_id})
    typed, lines = request.args.get("cursor", ""), payout["lineItems"]
    skip = min(int(typed), len(lines)) if typed.isascii() and typed.isdigit() and len(typed) < 10 else 0
    end = skip + _LINES_PER_PAGE
    return frame.render(
        "payout.html",
        payout=payout,
        lines=lines[skip:end],
        number_of_lines=len(lines),
        held_back_cents=sum(line["amountCents"] for line in lines if line["amountCents"] < 0),
        next_cursor=str(end) if end < len(lines) else None,
    )
