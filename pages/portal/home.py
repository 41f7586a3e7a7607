"""The portal's first screen: links, this month next to the last one, balances, payouts, and the last 30 days."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response

from api import current_time
from api.me.balance import get_own_balance
from api.me.links import list_own_links
from api.me.numbers import list_own_days
from api.me.receipts import list_own_payouts
from api.payouts.account import get_payout_account
from domain.money import wording
from domain.statuses import AffiliateStatus
from pages import api_client, charts, screens, template_filters
from pages.charts import Chart
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_home_page", __name__)

_USES = (*frame.USES, get_own_balance, list_own_links, list_own_days, list_own_payouts, get_payout_account)
_MAX_DAYS = 5
_MAX_LINKS = 10
_CHART_DAYS = 30
_MAX_CURRENCIES = 3
_COUNTS = ("clicks", "leads", "sales")


@dataclass(frozen=True, slots=True)
class PeriodNumbers:
    """The counts of some days, and what they earned in minor units by currency."""

    clicks: int
    leads: int
    sales: int
    earned: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SharedLink:
    """A link to share, with the address of an email that contains it."""

    id: str
    slug: str
    url: str
    program: str
    brand: str
    mail: str


@blueprint.get("/portal")
@screen("account", uses=_USES)
def show_portal_home() -> Response:
    """Show the portal's home. Budget: 6 round trips, however much there is."""
    today = current_time.now().date()
    month = today.replace(day=1)
    last_month = (month - timedelta(days=1)).replace(day=1)
    first = min(last_month, today - timedelta(days=_CHART_DAYS - 1))
    balance = api_client.require(get_own_balance)
    days = api_client.require(list_own_days, query={"from": first, "to": today})
    links = list(_list_links(api_client.require(list_own_links)))
    payouts = api_client.require(list_own_payouts, query={"take": 1})["items"]
    same_day = min(last_month + timedelta(days=today.day - 1), month - timedelta(days=1))
    return frame.render(
        "home.html",
        balances=balance["balances"],
        coming=balance["coming"][:_MAX_DAYS],
        more_days=max(0, len(balance["coming"]) - _MAX_DAYS),
        links=links[:_MAX_LINKS],
        account=api_client.require(get_payout_account),
        last_payout=payouts[0] if payouts else None,
        this_month=_sum_days(days, month, today),
        last_month=_sum_days(days, last_month, same_day),
        same_day=same_day,
        charts=_create_charts(days[-_CHART_DAYS:]),
    )


def _list_links(links: Sequence[Mapping[str, Any]]) -> Iterator[SharedLink]:
    """Yield the default link of each program that pays the affiliate, those of other programs last."""
    for link in sorted(links, key=lambda link: link["affiliateStatus"] != AffiliateStatus.Approved):
        if link["isDefault"]:
            program, brand = link["programName"], link["organizationName"]
            mail = urlencode({"subject": brand, "body": link["url"]}).replace("+", "%20")
            yield SharedLink(link["id"], link["slug"], link["url"], program, brand, f"mailto:?{mail}")


def _sum_days(days: Sequence[Mapping[str, Any]], first: date, last: date) -> PeriodNumbers:
    chosen = [day for day in days if first.isoformat() <= day["day"] <= last.isoformat()]
    earned: Counter[str] = Counter()
    for day in chosen:
        earned.update(day["commissionCentsByCurrency"])
    return PeriodNumbers(**{name: sum(day[name] for day in chosen) for name in _COUNTS}, earned=dict(earned))


def _create_charts(days: Sequence[Mapping[str, Any]]) -> Sequence[Chart]:
    """Return a chart of the clicks, one of the sales, and one of the commission in each of the first currencies."""
    counts = [
        charts.create_chart(
            label,
            [charts.create_day_point(day["day"], day[name], template_filters.format_number(day[name])) for day in days],
            currency=None,
        )
        for label, name in (("Clicks", "clicks"), ("Sales", "sales"))
    ]
    currencies = sorted({currency for day in days for currency in day["commissionCentsByCurrency"]})[:_MAX_CURRENCIES]
    earned = [_create_earnings_chart(days, currency) for currency in currencies]
    return [chart for chart in (*counts, *earned) if chart.has_anything]


def _create_earnings_chart(days: Sequence[Mapping[str, Any]], currency: str) -> Chart:
    amounts = [(day["day"], day["commissionCentsByCurrency"].get(currency, 0)) for day in days]
    points = [charts.create_day_point(day, cents, wording.format_money(cents, currency)) for day, cents in amounts]
    return charts.create_chart(f"Commission in {currency}", points, currency=currency)


@blueprint.get("/portal/<path:rest>")
@screen("account")
def show_no_portal_page(rest: str) -> Response:
    """Show that there is no such page."""
    return screens.refuse_address(rest)
