"""The portal's first screen: where an affiliate is paid, and what they have with the brands."""

from flask import Blueprint, Response

from api.affiliates.sub_affiliates import list_recruits
from api.coupons.own import list_own_coupons
from api.deals.creator import list_own_deals
from api.payouts.account import get_payout_account
from pages import calls, screens
from pages.screens import screen

blueprint = Blueprint("portal_home_page", __name__)


@blueprint.get("/portal")
@screen("account", uses=(get_payout_account, list_recruits, list_own_coupons, list_own_deals))
def show_portal_home() -> Response:
    """Show the portal's home. Budget: 8 round trips, however much there is."""
    return screens.show(
        "portal_home.html",
        account=calls.needed(get_payout_account),
        coupons=calls.needed(list_own_coupons)["items"],
        deals=calls.needed(list_own_deals)["items"],
        recruits=calls.needed(list_recruits)["items"],
    )


@blueprint.get("/portal/<path:rest>")
@screen("account")
def show_no_portal_page(rest: str) -> Response:
    """Say that there is no such page."""
    return screens.absent(rest)
