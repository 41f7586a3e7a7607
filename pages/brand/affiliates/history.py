"""Lists of one affiliate: the timeline, payouts and recruits."""

from flask import Blueprint, Response

from api.affiliates.affiliates import get_affiliate
from api.affiliates.sub_affiliates import list_sub_affiliates
from api.affiliates.timeline import list_affiliate_events
from api.payouts.payouts import list_payouts
from pages import api_client, screens
from pages.brand.affiliates.profile import PATH, head_values
from pages.brand.payouts import states
from pages.list_pages import RowList, read_filter
from pages.screens import screen

blueprint = Blueprint("affiliate_history_page", __name__)

_EVENTS = RowList(list_affiliate_events)


@blueprint.get(f"{PATH}/timeline")
@screen("member", uses=(get_affiliate, list_affiliate_events))
def show_timeline(affiliate_id: str) -> Response:
    """Show what happened to an affiliate, fifty events a page. Budget: 3 round trips, however much there is."""
    path = {"affiliate_id": affiliate_id}
    affiliate = api_client.require(get_affiliate, path=path)
    events = _EVENTS.require(path=path)
    return screens.render("brand/affiliates/timeline.html", **head_values(affiliate), **events.values())


@blueprint.get(f"{PATH}/payouts")
@screen("member", uses=(get_affiliate, list_payouts))
def show_affiliates_payouts(affiliate_id: str) -> Response:
    """Show the payouts to an affiliate, newest first, fifty a page. Budget: 3 round trips, however many there are."""
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    query = {"affiliateId": affiliate_id, "lineItems": "false", "cursor": read_filter("cursor")}
    payouts = api_client.require(list_payouts, query=query)
    return screens.render(
        "brand/affiliates/payouts.html",
        **head_values(affiliate),
        payouts=[states.payout_view(payout) for payout in payouts["items"]],
        next_cursor=payouts["nextCursor"],
    )


@blueprint.get(f"{PATH}/recruits")
@screen("member", uses=(get_affiliate, list_sub_affiliates))
def show_affiliates_recruits(affiliate_id: str) -> Response:
    """Show the affiliates whom an affiliate recruited. Budget: 5 round trips, however many there are."""
    path = {"affiliate_id": affiliate_id}
    affiliate = api_client.require(get_affiliate, path=path)
    recruits = api_client.require(list_sub_affiliates, path=path)
    return screens.render("brand/affiliates/recruits.html", **head_values(affiliate), recruits=recruits)
