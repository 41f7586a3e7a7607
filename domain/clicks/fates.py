"""What becomes of clicks: facts in, fates out, nothing asked and nothing written.

A click is looked at by itself first (`outcome`); those that would earn are then gathered (`gather`) by the rows of
their hours, as far as those rows and the budgets take them.
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
from domain.programs.rewards import Purse, Reward

Outcome = Literal["duplicate", "blocked", "held", "unscored", "recorded", "over_budget", "earned"]


@dataclass(frozen=True, slots=True)
class ClickTerms:
    """What one click of an affiliate pays now, and for how many days that is held."""

    reward: Reward
    grace_days: int


class JudgedClick(NamedTuple):
    """A click with all that its fate depends on. Ids are texts; `terms` is None where the click pays nothing."""

    id: str
    program_id: str
    affiliate_id: str
    sub_id: str | None
    occurred_at: datetime
    verdict: Verdict
    terms: ClickTerms | None
    is_duplicate: bool = False


def outcome(click: JudgedClick, *, strictness: str, waits_for_scorer: bool = False) -> Outcome:
    """Return what becomes of a click by itself; `earned` is subject to `gather`.

    A duplicate never earns, and is not a signal. `waits_for_scorer`: what passes our own rules is still to be scored by
    the operator's.
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


#: Clicks that one row may gather: by the external id of their hour's first row, and by what each of them pays.
Hours = Mapping[tuple[str, ClickTerms], Sequence[JudgedClick]]


def by_hour(clicks: Iterable[JudgedClick]) -> Hours:
    """Return the clicks that would earn by the rows that may gather them, each in the order given."""
    hours = defaultdict(list)
    for click in clicks:
        if click.terms is not None:
            base = gathering.external_id(
                program_id=click.program_id, affiliate_id=click.affiliate_id, at=click.occurred_at, sub_id=click.sub_id
            )
            hours[base, click.terms].append(click)
    return hours


def further_names(hours: Hours, rows: Mapping[str, HourRow]) -> set[str]:
    """Return the external ids that are to be looked for, too, where an hour's first row takes no such clicks."""
    more: set[str] = set()
    for base, terms in hours:
        place = gathering.place(base, terms.reward, rows)
        if place is not None and place[0] != base:
            more.update(gathering.candidates(base, terms.reward.fee)[1:])
    return more


@dataclass(frozen=True, slots=True)
class Gathered:
    """Clicks that earn, all by the same terms, and the row that takes them: an existing one, or a new one (None)."""

    external_event_id: str
    row: HourRow | None
    terms: ClickTerms
    clicks: Sequence[JudgedClick]

    @property
    def cents(self) -> int:
        """What the clicks earn together, in minor units of their fee's currency."""
        return len(self.clicks) * self.terms.reward.fee.cents


@dataclass(frozen=True, slots=True)
class Harvest:
    """What clicks earn row by row, and by id what became of those that earn nothing after all."""

    gathered: Sequence[Gathered]
    unpaid: Mapping[str, Outcome]


def gather(hours: Hours, *, rows: Mapping[str, HourRow], purses: Mapping[str, Purse]) -> Harvest:
    """Return which rows take which clicks. What a row closed by the brand would take is only recorded.

    `rows` are those that exist, by external id; `purses` the budgets by program, from which is set aside what is
    earned here.
    """
    gathered: list[Gathered] = []
    unpaid: dict[str, Outcome] = {}
    for (base, terms), clicks in hours.items():
        place = gathering.place(base, terms.reward, rows)
        if place is None:
            unpaid |= {click.id: "recorded" for click in clicks}
            continue
        number = purses[clicks[0].program_id].affordable(terms.reward.fee, len(clicks))
        unpaid |= {click.id: "over_budget" for click in clicks[number:]}
        if number:
            gathered.append(Gathered(*place, terms, clicks[:number]))
    return Harvest(gathered, unpaid)
