"""The portal's first screen: links, this month next to the last one, balances, payouts, and the last 30 days."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

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
from pages.charts import Chart, ChartPoint
from pages.portal import frame
from pages.screens import screen
from pages.times import day_words

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


@dataclass(frozen=True, slots=True)
class NextPayout:
    """The next payout of a brand. `payable` are the amounts payable by then, by currency; None if they are not known.

    They are not known without a day, and for an affiliate of several brands, whose balance is that of all.
    """

    brand: str
    day: str | None
    cadence: str
    minimums: Sequence[Mapping[str, Any]]
    payable: Mapping[str, int] | None

    @property
    def is_too_small(self) -> bool:
        """Whether the payable amount is below every minimum; unknown, and so no, if their currencies differ."""
        if not self.payable or not self.minimums:
            return False
        return all(
            set(self.payable) == {minimum["currency"]} and self.payable[minimum["currency"]] < minimum["amountCents"]
            for minimum in self.minimums
        )


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
    brands = frame.read_brands()
    return frame.render_for(
        brands,
        "home.html",
        next_payouts=_list_next_payouts(brands, balance) if links or balance["balances"] else [],
        balances=balance["balances"],
        coming=balance["coming"][:_MAX_DAYS],
        more_days=max(0, len(balance["coming"]) - _MAX_DAYS),
        links=links[:_MAX_LINKS],
        account=api_client.require(get_payout_account),
        last_payout=payouts[0] if payouts else None,
        this_month=_sum_days(days, month, today),
        last_month=_sum_days(days, last_month, same_day),
        same_day=same_day,
        charts=_create_charts(days[-_CHART_DAYS:], today),
    )


def _list_next_payouts(brands: Sequence[Mapping[str, Any]], balance: Mapping[str, Any]) -> list[NextPayout]:
    """Return the next payout of each brand."""
    return [
        NextPayout(
            brand=brand["name"],
            day=brand["nextPayoutOn"],
            cadence=brand["payoutCadence"],
            minimums=brand["minPayouts"],
            payable=_sum_payable(brand, balance) if brand["nextPayoutOn"] and len(brands) == 1 else None,
        )
        for brand in brands
    ]


def _sum_payable(brand: Mapping[str, Any], balance: Mapping[str, Any]) -> dict[str, int]:
    """Return what is payable when the brand's payout day begins, by currency."""
    zone = ZoneInfo(brand["timezone"])
    start = datetime.combine(date.fromisoformat(brand["nextPayoutOn"]), datetime.min.time(), zone)
    sums = Counter({part["currency"]: part["payableCents"] for part in balance["balances"]})
    for part in balance["coming"]:
        if datetime.fromisoformat(part["payableAt"]) <= start:
            sums[part["currency"]] += part["amountCents"]
    return {currency: cents for currency, cents in sorted(sums.items()) if cents > 0}


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


def _create_charts(days: Sequence[Mapping[str, Any]], today: date) -> Sequence[Chart]:
    """Return a chart of the clicks, one of the sales, and one of the commission in each of the first currencies."""
    drawn = [
        _create_chart(label, days, [day[name] for day in days], None, today)
        for label, name in (("Clicks", "clicks"), ("Sales", "sales"))
    ]
    currencies = sorted({currency for day in days for currency in day["commissionCentsByCurrency"]})[:_MAX_CURRENCIES]
    for currency in currencies:
        amounts = [day["commissionCentsByCurrency"].get(currency, 0) for day in days]
        drawn.append(_create_chart(f"Commission in {currency}", days, amounts, currency, today))
    return [chart for chart in drawn if chart.has_anything]


def _create_chart(
    label: str, days: Sequence[Mapping[str, Any]], values: Sequence[int], currency: str | None, today: date
) -> Chart:
    def format_value(value: int) -> str:
        return wording.format_money(value, currency) if currency else template_filters.format_number(value)

    points = []
    for day, value in zip((date.fromisoformat(day["day"]) for day in days), values, strict=True):
        words, short = day_words.describe_day(day), day_words.short_day(day)
        points.append(ChartPoint(words, value, format_value(value), short, is_running=day == today))
    return charts.create_chart(label, points, currency=currency, total=format_value(sum(values)))


@blueprint.get("/portal/<path:rest>")
@screen("account")
def show_no_portal_page(rest: str) -> Response:
    """Show that there is no such page."""
    return screens.refuse_address(rest)
