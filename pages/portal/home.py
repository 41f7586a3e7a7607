"""The portal's first screen: balances, the next payable days, links, and the last 30 days."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response

from api.me.balance import get_own_balance
from api.me.links import list_own_links
from api.me.numbers import list_own_days
from api.payouts.account import get_payout_account
from domain.money import wording
from pages import api_client, charts, screens, template_filters
from pages.charts import Chart, ChartPoint
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_home_page", __name__)

_USES = (*frame.USES, get_own_balance, list_own_links, list_own_days, get_payout_account)
_MAX_DAYS = 5
_MAX_LINKS = 10


@blueprint.get("/portal")
@screen("account", uses=_USES)
def show_portal_home() -> Response:
    """Show the portal's home. Budget: 5 round trips, however much there is."""
    balance = api_client.require(get_own_balance)
    days = api_client.require(list_own_days)
    links = [link for link in api_client.require(list_own_links) if link["isDefault"]]
    clicks = [ChartPoint(day["day"], day["clicks"], template_filters.format_number(day["clicks"])) for day in days]
    numbers = _sum_days(days)
    return frame.render(
        "home.html",
        balances=balance["balances"],
        coming=balance["coming"][:_MAX_DAYS],
        more_days=max(0, len(balance["coming"]) - _MAX_DAYS),
        links=links[:_MAX_LINKS],
        is_somewhere=bool(links),
        account=api_client.require(get_payout_account),
        numbers=numbers,
        clicks=charts.create_chart("Clicks", clicks, currency=None),
        earned=[_earnings_chart(days, currency) for currency, cents in sorted(numbers["earned"].items()) if cents],
    )


def _sum_days(days: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    earned: defaultdict[str, int] = defaultdict(int)
    for day in days:
        for currency, cents in day["commissionCentsByCurrency"].items():
            earned[currency] += cents
    return {name: sum(day[name] for day in days) for name in ("clicks", "leads", "sales")} | {"earned": dict(earned)}


def _earnings_chart(days: Sequence[Mapping[str, Any]], currency: str) -> Chart:
    amounts = [(day["day"], day["commissionCentsByCurrency"].get(currency, 0)) for day in days]
    points = [ChartPoint(day, cents, wording.format_money(cents, currency)) for day, cents in amounts]
    return charts.create_chart(f"Earned in {currency}", points, currency=currency)


@blueprint.get("/portal/<path:rest>")
@screen("account")
def show_no_portal_page(rest: str) -> Response:
    """Show that there is no such page."""
    return screens.refuse_address(rest)
