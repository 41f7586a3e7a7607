"""The dashboard's first screen: what waits for somebody, what is owed, and what the last 30 days brought."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response

from api.affiliates.affiliates import list_applications
from api.conversions.uncredited import summarize_uncredited_conversions
from api.fraud import list_fraud_events
from api.organization.organization import get_organization
from api.payouts.drafts import list_payout_drafts
from api.programs.numbers import get_tracking_status, list_program_stats
from api.programs.programs import create_program
from api.webhooks.endpoints import list_webhook_endpoints
from domain.money import wording
from pages import api_client, screens
from pages.brand import figures
from pages.screens import screen

blueprint = Blueprint("overview_page", __name__)


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """So much of one thing waits for somebody, in words for `one` and for `many`, and where; `about` are amounts."""

    count: int
    one: str
    many: str
    path: str
    about: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class HeldAmount:
    """Minor units that no rate could value."""

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
        *figures.USES,
    ),
)
def show_overview() -> Response:
    """Show the overview. Budget: 21 round trips, however much there is."""
    organization = api_client.require(get_organization)
    stats = api_client.require(list_program_stats)
    return screens.render(
        "overview.html",
        brand=organization["name"],
        currency=organization["homeCurrency"],
        has_programs=bool(stats),
        may_create=api_client.is_allowed(create_program),
        waiting=list(_waiting(stats)),
        pictures=figures.of() if stats else [],
        best=figures.best() if stats else [],
        owed=_owed(stats),
        numbers={
            "clicks": _sum(stats, "clicks30d"),
            "leads": _sum(stats, "leads30d"),
            "sales": _sum(stats, "sales30d"),
            "affiliates": _sum(stats, "affiliatesCount"),
        },
    )


def _waiting(stats: Sequence[Mapping[str, Any]]) -> Iterator[WaitingWork]:
    """Yield what waits, of what the person may see."""
    if stats and not api_client.require(get_tracking_status, path={"program_id": stats[0]["programId"]})["verified"]:
        one = "program whose tag nobody has seen yet"
        yield WaitingWork(1, one, one, f"/dashboard/programs/{stats[0]['programId']}/install")
    if applications := api_client.require(list_applications):
        path = "/dashboard/affiliates/applications"
        yield WaitingWork(len(applications), "application to decide", "applications to decide", path)
    yield from _to_review()
    if api_client.is_allowed(list_payout_drafts):
        for draft in api_client.require(list_payout_drafts):
            amounts = [wording.money(minor, currency) for currency, minor in draft["nativeTotalsForRun"].items()]
            one, many = "affiliate in a prepared payout run", "affiliates in a prepared payout run"
            yield WaitingWork(draft["recipientCount"], one, many, "/dashboard/payouts", amounts)
    if api_client.is_allowed(list_webhook_endpoints):
        failing = sum(1 for endpoint in api_client.require(list_webhook_endpoints)["items"] if endpoint["failingSince"])
        if failing:
            one, many = "webhook endpoint that fails", "webhook endpoints that fail"
            yield WaitingWork(failing, one, many, "/dashboard/webhooks")


def _to_review() -> Iterator[WaitingWork]:
    if events := api_client.require(list_fraud_events):
        one, many = "click or lead that the fraud rules stopped", "clicks and leads that the fraud rules stopped"
        yield WaitingWork(len(events), one, many, "/dashboard/review")
    uncredited = api_client.require(summarize_uncredited_conversions)
    if uncredited["openCount"]:
        amounts = [wording.money(total["amountCents"], total["currency"]) for total in uncredited["byCurrency"]]
        one, many = "sale whose affiliate could not earn", "sales whose affiliate could not earn"
        yield WaitingWork(uncredited["openCount"], one, many, "/dashboard/review?kind=uncredited", amounts)


def _owed(stats: Sequence[Mapping[str, Any]]) -> Mapping[str, object]:
    held: Counter[str] = Counter()
    for kind in ("pending", "available", "settling"):
        for program in stats:
            held.update(program[f"{kind}UnconvertibleByCurrency"] or {})
    return {
        **{kind: _sum(stats, f"{kind}CommissionCents") for kind in ("pending", "available", "settling")},
        "held": [HeldAmount(amount, currency) for currency, amount in sorted(held.items())],
    }


def _sum(stats: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(program[name] for program in stats)


@blueprint.get("/dashboard/<path:rest>")
@screen("member")
def show_no_dashboard_page(rest: str) -> Response:
    """Say that there is no such page."""
    return screens.refuse_address(rest)
