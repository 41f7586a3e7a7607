"""One affiliate: figures, charts, balances, conversions, payouts, links, codes, notes and the newest events."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from flask import Blueprint, Response, request

from api import current_time
from api.affiliates.affiliates import change_affiliate, get_affiliate
from api.affiliates.balance import get_affiliate_balance
from api.affiliates.decisions import approve_affiliate, reject_affiliate
from api.affiliates.links import create_affiliate_link, delete_affiliate_link, list_affiliate_links
from api.affiliates.timeline import list_affiliate_events
from api.conversions.conversions import list_conversions
from api.coupons.affiliate_coupons import list_affiliate_coupons
from api.payouts.payouts import list_payouts
from api.programs.metrics import get_performance_metrics
from api.programs.programs import get_program
from domain.money import wording
from domain.refusals import Refused, not_found
from domain.statuses import AffiliateStatus
from pages import api_client, charts, documents, forms, screens, template_filters
from pages.api_client import View
from pages.brand import choices
from pages.brand.payouts import states
from pages.charts import Chart
from pages.form_pages import Body, CustomForm, Form, form_page, send_form
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("affiliate_page", __name__)

PATH = "/dashboard/affiliates/<affiliate_id>"
PAGE = "/dashboard/affiliates/{affiliate_id}"
# The status that each button sets.
_STATUS_AFTER = {"pause": AffiliateStatus.Paused.value, "resume": AffiliateStatus.Approved.value}
#: The ranges of the figures, by their name in the address.
_RANGES: Mapping[str, int] = MappingProxyType({"7d": 7, "30d": 30, "90d": 90})
_DEFAULT_RANGE = "30d"
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
    get_performance_metrics,
    get_program,
    list_affiliate_coupons,
    list_affiliate_events,
    list_conversions,
    list_payouts,
)


@form_page(blueprint, "member", PATH, *_FORMS, uses=_USES)
def show_affiliate(form: FormState | None, affiliate_id: str) -> Response:
    """Show an affiliate. Budget: 13 round trips, however much they sold."""
    path, of_affiliate = {"affiliate_id": affiliate_id}, {"affiliateId": affiliate_id}
    affiliate = api_client.require(get_affiliate, path=path)
    program = api_client.require(get_program, path={"program_id": affiliate["programId"]})
    range_name = _read_range()
    metrics = _read_metrics(affiliate_id, _RANGES[range_name])
    payouts = api_client.require(list_payouts, query=of_affiliate | {"lineItems": "false", "take": _MAX_ROWS})
    return screens.render(
        "brand/affiliates/profile.html",
        form,
        **head_values(affiliate),
        program=program,
        questions=choices.application_questions(program),
        ranges=[(name, number) for name, number in _RANGES.items()],
        range_name=range_name,
        figures=_list_figures(metrics),
        charts=_create_charts(metrics),
        last_sale=_find_last_sale(affiliate_id),
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


def _read_range() -> str:
    name = request.args.get("range", "")
    return name if name in _RANGES else _DEFAULT_RANGE


def _read_metrics(affiliate_id: str, number_of_days: int) -> Mapping[str, Any]:
    last = current_time.now().date()
    query = {"affiliateId": affiliate_id, "from": last - timedelta(days=number_of_days - 1), "to": last}
    metrics: Mapping[str, Any] = api_client.require(get_performance_metrics, query=query)
    return metrics


def _find_last_sale(affiliate_id: str) -> str | None:
    """Return when the newest sale occurred, refunded or not."""
    query = {"affiliateId": affiliate_id, "kind": "sale", "take": 1}
    sales = api_client.require(list_conversions, query=query)["items"]
    return sales[0]["occurredAt"] if sales else None


def _net_revenue(row: Mapping[str, Any]) -> int:
    return int(row["revenueCents"] - row["refundedCents"])


def _list_figures(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the totals, with what an average click earned the affiliate and the amounts without an exchange rate."""
    totals, currency = metrics["totals"], metrics["currency"]
    commission, clicks = totals["commissionCents"], totals["clicks"]
    return {
        "clicks": totals["clicks"],
        "leads": totals["leads"],
        "sales": totals["sales"],
        "revenue": wording.format_money(_net_revenue(totals), currency),
        "commission": wording.format_money(commission, currency),
        "epc": wording.format_money(_divide_half_even(commission, clicks), currency) if clicks else None,
        "currency": currency,
        "unconverted": {
            label: amounts
            for label, amounts in (
                ("Revenue", totals["revenueUnconvertibleByCurrency"]),
                ("Commission", totals["commissionUnconvertibleByCurrency"]),
            )
            if amounts
        },
    }


def _divide_half_even(cents: int, number: int) -> int:
    quotient, rest = divmod(cents, number)
    return quotient + (2 * rest > number or (2 * rest == number and quotient % 2 == 1))


def _create_charts(metrics: Mapping[str, Any]) -> Sequence[Chart]:
    """Return a chart each of clicks, sales and revenue (commission if there is none); empty ones are left out."""
    days, currency = metrics["rows"], metrics["currency"]
    counts = [
        charts.create_chart(
            label,
            [charts.create_day_point(day["key"], day[name], template_filters.format_number(day[name])) for day in days],
            currency=None,
        )
        for label, name in (("Clicks", "clicks"), ("Sales", "sales"))
    ]
    amounts = [
        charts.create_chart(
            label,
            [
                charts.create_day_point(day["key"], cents(day), wording.format_money(cents(day), currency))
                for day in days
            ],
            currency=currency,
        )
        for label, cents in (("Revenue", _net_revenue), ("Commission", lambda day: int(day["commissionCents"])))
    ]
    earned = next((chart for chart in amounts if chart.has_anything), None)
    return [chart for chart in (*counts, earned) if chart is not None and chart.has_anything]


@blueprint.get(f"{PATH}/links/<link_id>/qr.svg")
@screen("member", uses=(list_affiliate_links,))
def show_link_qr_code(affiliate_id: str, link_id: str) -> Response:
    """Show a link of an affiliate as a QR code. Budget: 2 round trips."""
    links = api_client.require(list_affiliate_links, path={"affiliate_id": affiliate_id})
    address = next((link["url"] for link in links if link["id"] == link_id), None)
    if address is None:
        raise not_found("link", link_id)
    return documents.render_qr_code(address)
