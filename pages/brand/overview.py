"""The dashboard's first screen: open work, the figures of a range of days, and amounts owed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response

from api.affiliates.affiliates import list_applications
from api.conversions.uncredited_sales import summarize_uncredited_conversions
from api.fraud import list_fraud_events
from api.organization.organization import get_organization
from api.payouts.drafts import list_payout_drafts
from api.programs.numbers import get_tracking_status, list_program_stats
from api.programs.programs import create_program
from api.webhooks.endpoints import list_webhook_endpoints
from domain.money import wording
from pages import api_client, screens
from pages.brand import onboarding, performance
from pages.screens import screen
from pages.times import date_ranges

blueprint = Blueprint("overview_page", __name__)

# How many the API lists at most.
_MAX_APPLICATIONS, _MAX_EVENTS = 50, 500


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """A count of waiting items with the words for `one` and for `many`, and their address; `about` are amounts.

    With `is_capped` there may be more.
    """

    count: int
    one: str
    many: str
    path: str
    about: Sequence[str] = ()
    is_capped: bool = False


@dataclass(frozen=True, slots=True)
class HeldAmount:
    """An amount in minor units without an exchange rate."""

    amount: int
    currency: str


@blueprint.get("/dashboard")
@screen(
    "member",
    uses=(
        get_organization,
        list_program_stats,
        list_applications,
        summarize_uncredited_conversions,
        list_payout_drafts,
        list_fraud_events,
        list_webhook_endpoints,
        get_tracking_status,
        *performance.USES,
        *onboarding.USES,
    ),
)
def show_overview() -> Response:
    """Show the overview. Budget: 16 round trips, however much there is."""
    stats = api_client.require(list_program_stats)
    chosen = date_ranges.read_range()
    organization = api_client.require(get_organization)
    return screens.render(
        "overview.html",
        chosen.form if stats else None,
        **onboarding.read_values(),
        brand=organization["name"],
        currency=organization["homeCurrency"],
        has_programs=bool(stats),
        may_create=api_client.is_allowed(create_program),
        waiting=list(_list_waiting_work(stats)),
        chosen=chosen,
        ranges=date_ranges.LABELS,
        shown=performance.read_performance(chosen) if stats else None,
        owed=_sum_owed(stats),
        affiliates=_sum(stats, "affiliatesCount"),
    )


def _list_waiting_work(stats: Sequence[Mapping[str, Any]]) -> Iterator[WaitingWork]:
    """Yield the open work that the person may see."""
    if stats and not api_client.require(get_tracking_status, path={"program_id": stats[0]["programId"]})["verified"]:
        singular = "program without tracking data"
        yield WaitingWork(1, singular, singular, f"/dashboard/programs/{stats[0]['programId']}/install")
    if applications := api_client.require(list_applications):
        path = "/dashboard/affiliates/applications"
        is_capped = len(applications) == _MAX_APPLICATIONS
        yield WaitingWork(len(applications), "pending application", "pending applications", path, is_capped=is_capped)
    yield from _list_review_work()
    if api_client.is_allowed(list_payout_drafts):
        for draft in api_client.require(list_payout_drafts):
            amounts = [wording.format_money(minor, currency) for currency, minor in draft["nativeTotalsForRun"].items()]
            singular, plural = "affiliate in a payout run to confirm", "affiliates in a payout run to confirm"
            yield WaitingWork(draft["recipientCount"], singular, plural, "/dashboard/payouts", amounts)
    if api_client.is_allowed(list_webhook_endpoints):
        failing = sum(1 for endpoint in api_client.require(list_webhook_endpoints)["items"] if endpoint["failingSince"])
        if failing:
            singular, plural = "failing webhook endpoint", "failing webhook endpoints"
            yield WaitingWork(failing, singular, plural, "/dashboard/webhooks")


def _list_review_work() -> Iterator[WaitingWork]:
    if events := api_client.require(list_fraud_events):
        singular, plural = "click or lead flagged as fraud", "clicks and leads flagged as fraud"
        yield WaitingWork(len(events), singular, plural, "/dashboard/review", is_capped=len(events) == _MAX_EVENTS)
    uncredited = api_client.require(summarize_uncredited_conversions)
    if uncredited["openCount"]:
        amounts = [wording.format_money(total["amountCents"], total["currency"]) for total in uncredited["byCurrency"]]
        singular, plural = "sale without a credited affiliate", "sales without a credited affiliate"
        yield WaitingWork(uncredited["openCount"], singular, plural, "/dashboard/review?kind=uncredited", amounts)


def _sum_owed(stats: Sequence[Mapping[str, Any]]) -> Mapping[str, object]:
    unconverted: Counter[str] = Counter()
    for kind in ("pending", "available", "settling"):
        for program in stats:
            unconverted.update(program[f"{kind}UnconvertibleByCurrency"] or {})
    return {
        **{kind: _sum(stats, f"{kind}CommissionCents") for kind in ("pending", "available", "settling")},
        "held": [HeldAmount(amount, currency) for currency, amount in sorted(unconverted.items())],
    }


def _sum(stats: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(program[name] for program in stats)


@blueprint.get("/dashboard/<path:rest>")
@screen("member")
def show_no_dashboard_page(rest: str) -> Response:
    """Show that there is no such page."""
    return screens.refuse_address(rest)
