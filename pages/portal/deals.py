"""Deals that brands offered an affiliate: accepted, declined, their milestones submitted or disputed."""

from flask import Blueprint, Response, request

from api.deals.creator import (
    accept_deal,
    decline_deal,
    dispute_own_milestone,
    get_own_deal,
    list_own_deals,
    submit_milestone,
)
from pages import api_client, forms
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.list_pages import RowList
from pages.portal import frame

blueprint = Blueprint("portal_deals_page", __name__)

_DEALS = RowList(list_own_deals)


def _read_urls() -> Body:
    """Return the submitted addresses, one on each line."""
    _check_deal()
    return {"urls": [line.strip() for line in request.form.get("urls", "").splitlines() if line.strip()]}


def _read_dispute() -> Body:
    _check_deal()
    return {name: request.form.get(name, "") for name in ("reason", "proposedResolution")}


def _check_deal() -> None:
    """Raise Refused if the deal of this request's address is not the person's own."""
    api_client.require(get_own_deal, path={"deal_id": (request.view_args or {})["deal_id"]})


_PART = "/<deal_id>/milestones/<seq>"
_FORMS = (
    Form("/<deal_id>/accept", accept_deal),
    Form("/<deal_id>/decline", decline_deal),
    Form(f"{_PART}/submit", submit_milestone, _read_urls, id="{deal_id}-{seq}-"),
    Form(f"{_PART}/dispute", dispute_own_milestone, _read_dispute, id="{deal_id}-{seq}-dispute-"),
)


@form_page(blueprint, "account", "/portal/deals", *_FORMS, uses=(*frame.USES, list_own_deals, get_own_deal))
def show_own_deals(form: FormState | None) -> Response:
    """Show deals, newest first, with their milestones. Budget: 2 round trips, however many there are."""
    return frame.render("deals.html", **_DEALS.require().values(form), blank=forms.prefill)
