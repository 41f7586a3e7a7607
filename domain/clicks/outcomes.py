"""The outcomes of clicks, decided from facts alone: no query, no write.

Each click is first decided by itself (`outcome`); those that would earn are then aggregated (`gather`) into one
conversion per hour, as far as those rows and the budgets have room.
Source: core spec, "Program" (budgetCents, clickRewardCents), "Click and lead fraud review".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from domain import fraud
from domain.clicks import gathering
from domain.clicks.gathering import HourRow
from domain.fraud import Verdict
from domain.programs.rewards import BudgetReserve, Reward

Outcome = Literal["duplicate", "blocked", "held", "unscored", "recorded", "over_budget", "earned"]


@dataclass(frozen=True, slots=True)
class ClickTerms:
    """What one click of an affiliate pays now, and for how many days that is held (the grace period)."""

    reward: Reward
    grace_days: int


class JudgedClick(NamedTuple):
    """A click with all that its outcome depends on. Ids are texts; `terms` is None where the click pays nothing."""

    id: str
    program_id: str
    affiliate_id: str
    sub_id: str | None
    occurred_at: datetime
    verdict: Verdict
    terms: ClickTerms | None
    is_duplicate: bool = False


def outcome(click: JudgedClick, *, strictness: str, waits_for_scorer: bool = False) -> Outcome:
    """Return the outcome of a click by itself; `earned` is subject to `gather`.

    A duplicate never earns, and is not a fraud signal. `waits_for_scorer`: a click that passes our own rules must still
    be scored by the operator's scorer.
    """
    decision = fraud.decide(click.verdict.score, strictness)
    if click.is_duplicate:
        return "duplicate"
    if decision == "block":
        return "blocked"
    if click.terms is None:
        return "recorded"
    if decision == "hold":
        return "held"
    return "unscored" if waits_for_scorer else "earned"


#: Clicks that one row may take: by the external id of their hour's first row, and by the terms of each.
Hours = Mapping[tuple[str, ClickTerms], Sequence[JudgedClick]]


def group_by_hour(clicks: Iterable[JudgedClick]) -> Hours:
    """Return the clicks that would earn, grouped by the rows that may take them, each group in the order given."""
    hours = defaultdict(list)
    for click in clicks:
        if click.terms is not None:
            base = gathering.external_id(
                program_id=click.program_id, affiliate_id=click.affiliate_id, at=click.occurred_at, sub_id=click.sub_id
            )
            hours[base, click.terms].append(click)
    return hours


def list_successor_ids(hours: Hours, rows: Mapping[str, HourRow]) -> set[str]:
    """Return the external ids that must be looked up as well where an hour's first row cannot take the clicks."""
    further_ids: set[str] = set()
    for base, terms in hours:
        place = gathering.place(base, terms.reward, rows)
        if place is not None and place[0] != base:
            further_ids.update(gathering.candidates(base, terms.reward.fee)[1:])
    return further_ids


@dataclass(frozen=True, slots=True)
class HourClicks:
    """Clicks that earn by the same terms, and the row that takes them: an existing one, or a new one (None)."""

    external_event_id: str
    row: HourRow | None
    terms: ClickTerms
    clicks: Sequence[JudgedClick]

    @property
    def cents(self) -> int:
        """The sum that the clicks earn, in minor units of their fee's currency."""
        return len(self.clicks) * self.terms.reward.fee.cents


@dataclass(frozen=True, slots=True)
class GatherResult:
    """The clicks that earn, row by row, and the outcomes by id of those that earn nothing after all."""

    gathered: Sequence[HourClicks]
    unpaid: Mapping[str, Outcome]


def gather(hours: Hours, *, rows: Mapping[str, HourRow], purses: Mapping[str, BudgetReserve]) -> GatherResult:
    """Return which rows take which clicks. Clicks of a row that the brand closed are only recorded.

    `rows` are the existing ones by external id; `purses` are the budgets by program, from which the earnings are
    reserved.
    """
    gathered: list[HourClicks] = []
    unpaid: dict[str, Outcome] = {}
    for (base, terms), clicks in hours.items():
        place = gathering.place(base, terms.reward, rows)
        if place is None:
            unpaid |= {click.id: "recorded" for click in clicks}
            continue
        number = purses[clicks[0].program_id].reserve(terms.reward.fee, len(clicks))
        unpaid |= {click.id: "over_budget" for click in clicks[number:]}
        if number:
            gathered.append(HourClicks(*place, terms, clicks[:number]))
    return GatherResult(gathered, unpaid)
