"""One affiliate: figures, charts, balances, conversions, payouts, links, codes, notes and the newest events."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.affiliates.affiliates import change_affiliate, get_affiliate
from api.affiliates.balance import get_affiliate_balance
from api.affiliates.decisions import approve_affiliate, reject_affiliate
from api.affiliates.links import create_affiliate_link, delete_affiliate_link, list_affiliate_links
from api.affiliates.timeline import list_affiliate_events
from api.conversions.conversions import list_conversions
from api.coupons.affiliate_coupons import list_affiliate_coupons
from api.payouts.payouts import list_payouts
from api.programs.programs import get_program
from domain.refusals import Refused, not_found
from domain.statuses import AffiliateStatus
from pages import api_client, documents, forms, screens
from pages.api_client import View
from pages.brand import choices, performance
from pages.brand.payouts import states
from pages.brand.performance import Performance
from pages.form_pages import Body, CustomForm, Form, form_page, send_form
from pages.forms import FormState
from pages.screens import screen
from pages.times import date_ranges

blueprint = Blueprint("affiliate_page", __name__)

PATH = "/dashboard/affiliates/<affiliate_id>"
PAGE = "/dashboard/affiliates/{affiliate_id}"
# The status that each button sets.
_STATUS_AFTER = {"pause": AffiliateStatus.Paused.value, "resume": AffiliateStatus.Approved.value}
_MAX_ROWS, _MAX_EVENTS = 5, 10


def _read_notes() -> Body:
    return {"notes": request.form.get("notes", "")}


def _read_link() -> Body:
    return {name: request.form.get(name) or None for name in ("customAlias", "format")}


def _change_status(affiliate_id: str) -> Response | FormState:
    """Approve or reject an applicant, pause an affiliate, or resume a paused or banned one."""
    act, body = request.form.get("act", ""), None
    operation: View
    if act == "approve":
        operation = approve_affiliate
    elif act == "reject":
        operation, body = reject_affiliate, {"reason": request.form.get("reason") or None}
    elif act in _STATUS_AFTER:
        operation, body = change_affiliate, {"status": _STATUS_AFTER[act]}
    else:
        raise Refused(404, "not_found", "There is no such action.")
    to = f"{PAGE}?done={act}"
    return send_form(operation, path={"affiliate_id": affiliate_id}, body=body, to=to, form_id="status-")


_FORMS = (
    CustomForm("/standing", _change_status, (approve_affiliate, reject_affiliate, change_affiliate)),
    Form("/notes", change_affiliate, _read_notes, id="notes-", done="notes"),
    Form("/links", create_affiliate_link, _read_link, id="link-", done="link"),
    Form("/links/<link_id>/remove", delete_affiliate_link, id="link-", done="unlink"),
)
_USES = (
    get_affiliate,
    get_affiliate_balance,
    get_program,
    list_affiliate_coupons,
    list_affiliate_events,
    list_conversions,
    list_payouts,
    *performance.AFFILIATE_USES,
)


@form_page(blueprint, "member", PATH, *_FORMS, uses=_USES)
def show_affiliate(form: FormState | None, affiliate_id: str) -> Response:
    """Show an affiliate. Budget: 13 round trips, however much they sold."""
    path, of_affiliate = {"affiliate_id": affiliate_id}, {"affiliateId": affiliate_id}
    affiliate = api_client.require(get_affiliate, path=path, query={"totals": "true"})
    program = api_client.require(get_program, path={"program_id": affiliate["programId"]})
    chosen = date_ranges.read_range()
    figures = performance.read_affiliate_performance(chosen, affiliate["id"])
    payouts = api_client.require(list_payouts, query=of_affiliate | {"lineItems": "false", "take": _MAX_ROWS})
    return screens.render(
        "brand/affiliates/profile.html",
        form or chosen.form,
        **head_values(affiliate),
        program=program,
        questions=choices.application_questions(program),
        chosen=chosen,
        ranges=date_ranges.LABELS,
        shown=figures,
        last_sale=_find_last_sale(affiliate, figures),
        balances=api_client.require(get_affiliate_balance, path=path)["balances"],
        conversions=api_client.require(list_conversions, query=of_affiliate | {"take": _MAX_ROWS})["items"],
        payouts=[states.payout_view(payout) for payout in payouts["items"]],
        codes=api_client.require(list_affiliate_coupons, path=path)["items"]
        if api_client.is_allowed(list_affiliate_coupons)
        else None,
        events=api_client.require(list_affiliate_events, path=path, query={"take": _MAX_EVENTS}),
        sent=_fill_forms(affiliate, form),
    )


def head_values(affiliate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template variables of the head of an affiliate's pages."""
    return {
        "affiliate": affiliate,
        "name": affiliate["fullName"] or affiliate["email"],
        "base": f"/dashboard/affiliates/{affiliate['id']}",
    }


def _fill_forms(affiliate: Mapping[str, Any], form: FormState | None) -> Mapping[str, FormState]:
    """Return the forms of the page with the current values, and a refused one as it was sent."""
    filled = {
        "notes": forms.prefill("notes-", notes=affiliate["notes"]),
        "link": forms.prefill("link-", format="Short"),
    }
    return filled | ({form.id.rstrip("-"): form} if form and form.id else {})


def _find_last_sale(affiliate: Mapping[str, Any], figures: Performance) -> str | None:
    """Return the day of the last sale: the stored one, or that of a newer sale that is not added up yet."""
    days: list[str] = [day for day in (affiliate["totals"]["lastSaleOn"], figures.last_sale_on) if day]
    return max(days, default=None)


@blueprint.get(f"{PATH}/links/<link_id>/qr.svg")
@screen("member", uses=(list_affiliate_links,))
def show_link_qr_code(affiliate_id: str, link_id: str) -> Response:
    """Show a link of an affiliate as a QR code. Budget: 2 round trips."""
    links = api_client.require(list_affiliate_links, path={"affiliate_id": affiliate_id})
    address = next((link["url"] for link in links if link["id"] == link_id), None)
    if address is None:
        raise not_found("link", link_id)
    return documents.render_qr_code(address)
