"""The dashboard's first screen: what waits for somebody, what is owed, and what the last 30 days brought."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response

from api.affiliates.affiliates import list_applications
from api.conversions.uncredited import summarize_uncredited_conversions
from api.organization.organization import get_organization
from api.payouts.drafts import list_payout_drafts
from api.programs.numbers import list_program_stats
from pages import calls, screens, show
from pages.screens import screen

blueprint = Blueprint("overview_page", __name__)


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """So much of one thing waits for somebody, in words for `one` and for `many`; `about` are amounts of it."""

    count: int
    one: str
    many: str
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
    ),
)
def show_overview() -> Response:
    """Show the overview. Budget: 14 round trips, however much there is."""
    organization = calls.needed(get_organization)
    stats = calls.needed(list_program_stats)
    return screens.show(
        "overview.html",
        brand=organization["name"],
        currency=organization["homeCurrency"],
        has_programs=bool(stats),
        waiting=list(_waiting()),
        owed=_owed(stats),
        numbers={
            "clicks": _sum(stats, "clicks30d"),
            "leads": _sum(stats, "leads30d"),
            "sales": _sum(stats, "sales30d"),
            "affiliates": _sum(stats, "affiliatesCount"),
        },
    )


def _waiting() -> Iterator[WaitingWork]:
    """Yield what waits, of what the person may see."""
    if applications := calls.needed(list_applications):
        yield WaitingWork(len(applications), "application to decide", "applications to decide")
    uncredited = calls.needed(summarize_uncredited_conversions)
    if uncredited["openCount"]:
        amounts = [show.money(total["amountCents"], total["currency"]) for total in uncredited["byCurrency"]]
        one, many = "sale whose affiliate could not earn", "sales whose affiliate could not earn"
        yield WaitingWork(uncredited["openCount"], one, many, amounts)
    if calls.may(list_payout_drafts):
        for draft in calls.needed(list_payout_drafts):
            amounts = [show.money(minor, currency) for currency, minor in draft["nativeTotalsForRun"].items()]
            one, many = "affiliate in a prepared payout run", "affiliates in a prepared payout run"
            yield WaitingWork(draft["recipientCount"], one, many, amounts)


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
    return screens.absent(rest)
