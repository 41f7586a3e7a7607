"""What follows from clicks: a row that pays for them, a row in quarantine, an open case on the fraud list.

What becomes of each is decided in `domain.clicks.outcomes`; here its facts are locked and read, and everything is
written. The caller holds `advisory_locks.stage_clicks_lock`, so rows are found or made here without a race. Locks are
taken in one order: that one, the budgets by program, the conversions. An override never follows a click. Source: core
spec, "Program" (budgetCents, clickRewardCents), "Click and lead fraud review".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.clicks import gathering, outcomes
from domain.clicks.gathering import METHOD, SOURCE, HourRow
from domain.clicks.outcomes import GatherResult, HourClicks, Hours, JudgedClick, Outcome
from domain.statuses import ConversionStatus, ConversionType
from domain.webhooks import events
from models import ids
from models.clicks import batches
from models.conversions.conversions import Conversion
from pipelines import earnings
from pipelines.fraud import fraud_events
from pipelines.fraud.fraud_events import BlockedClick
from pipelines.programs import rewards
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a click, and the row that pays for it or would."""

    outcome: Outcome
    conversion_id: UUID | None = None


def settle(
    clicks: Iterable[JudgedClick], *, organization_id: UUID, strictness: str, waits_for_scorer: bool, now: datetime
) -> dict[str, Fate]:
    """Decide what becomes of clicks, stage all that follows from it but their own rows, and return each fate by id.

    Budget: none where nothing earns; else 1 round trip for every program that earns, another where its budget's
    currencies differ, 1 for the rows that gather, another where a fee changed within an hour. What is written travels
    with the commit.
    """
    found: defaultdict[Outcome, list[JudgedClick]] = defaultdict(list)
    for click in clicks:
        found[outcomes.outcome(click, strictness=strictness, waits_for_scorer=waits_for_scorer)].append(click)
    held, harvest = found.pop("held", []), _harvest(organization_id, found.pop("earned", []))
    settled: dict[str, Fate] = {}
    for outcome, those in found.items():
        settled |= dict.fromkeys([click.id for click in those], Fate(outcome))
    settled |= {click_id: Fate(outcome) for click_id, outcome in harvest.unpaid.items()}
    settled |= {click.id: _hold(organization_id, click, now) for click in held}
    for gathered in harvest.gathered:
        fate = Fate("earned", gathered.row.id if gathered.row else _made(organization_id, gathered, now))
        settled |= {click.id: fate for click in gathered.clicks}
    _grow(organization_id, harvest.gathered, now)
    fraud_events.record_blocked_clicks(organization_id=organization_id, clicks=map(_blocked, found["blocked"]))
    return settled


def _harvest(organization_id: UUID, earning: Sequence[JudgedClick]) -> GatherResult:
    """Lock the budgets and the rows of clicks that would earn, and decide what they do earn."""
    hours = outcomes.group_by_hour(earning)
    purses = {
        program_id: rewards.purse(organization_id=organization_id, program_id=UUID(program_id))
        for program_id in sorted({click.program_id for click in earning})
    }
    return outcomes.gather(hours, rows=_rows(organization_id, hours), purses=purses)


def _rows(organization_id: UUID, hours: Hours) -> dict[str, HourRow]:
    """Return the rows that may take the clicks, locked; beside an hour's first row only where that does not fit."""
    rows = _locked(organization_id, {base for base, _ in hours})
    return rows | _locked(organization_id, outcomes.list_successor_ids(hours, rows))


def _locked(organization_id: UUID, names: set[str]) -> dict[str, HourRow]:
    if not names:
        return {}
    locked = batches.lock_hours(organization_id=organization_id, source=SOURCE, external_event_ids=sorted(names))
    return {row.external_event_id: row for row in locked}


def _blocked(click: JudgedClick) -> BlockedClick:
    return BlockedClick(click.id, UUID(click.program_id), UUID(click.affiliate_id), click.verdict, click.occurred_at)


def _hold(organization_id: UUID, click: JudgedClick, now: datetime) -> Fate:
    """Stage a row of the click's own, in quarantine: validated on the desk, it earns like any other."""
    assert click.terms is not None
    fraud_events.record_held_click(
        organization_id=organization_id,
        click_id=click.id,
        link=(UUID(click.program_id), UUID(click.affiliate_id)),
        verdict=click.verdict,
        at=click.occurred_at,
    )
    alone = HourClicks(gathering.held_id(click.id), None, click.terms, [click])
    return Fate("held", _made(organization_id, alone, now, status=ConversionStatus.Invalidated))


def _made(
    organization_id: UUID, gathered: HourClicks, now: datetime, *, status: ConversionStatus = ConversionStatus.Pending
) -> UUID:
    """Stage a new row for clicks and return its id; of their hour it keeps when the first of them occurred."""
    first, terms = gathered.clicks[0], gathered.terms
    conversion = Conversion(
        id=ids.new_id(),
        organization_id=organization_id,
        program_id=UUID(first.program_id),
        affiliate_id=UUID(first.affiliate_id),
        source=SOURCE,
        external_event_id=gathered.external_event_id,
        amount_cents=0,
        currency=terms.reward.fee.currency,
        commission_cents=gathered.cents,
        status=status.value,
        type=ConversionType.ClickReward.value,
        rate_source=terms.reward.source,
        rate_type="Fixed",
        rate_value=terms.reward.value,
        is_test=False,
        occurred_at=first.occurred_at,
        hold_until=first.occurred_at + timedelta(days=terms.grace_days),
        created_at=now,
        attribution_method=METHOD,
        sub_id=first.sub_id,
    )
    earnings.write(conversion, now=now)
    return conversion.id


def _grow(organization_id: UUID, all_gathered: Iterable[HourClicks], now: datetime) -> None:
    """Stage what existing rows gather on top: commission, a line of history, an entry in the ledger, an event each.

    The ledger names the first click of the batch as the cause, so the same batch is never booked twice.
    """
    grown = [(gathered.row, gathered) for gathered in all_gathered if gathered.row is not None]
    batches.stage_growth(
        organization_id=organization_id,
        rows=[{"conversion_id": row.id, "cents": more.cents, "cause_id": more.clicks[0].id} for row, more in grown],
        now=now,
    )
    emit.events_of_type(
        organization_id=organization_id,
        type="conversion.adjusted",
        data=[_adjusted(row, more) for row, more in grown],
        at=now,
    )


def _adjusted(row: HourRow, more: HourClicks) -> Mapping[str, object]:
    before_cents = row.commission_cents - row.reversed_cents
    return events.conversion_adjusted(
        conversion_id=row.id,
        affiliate_id=UUID(more.clicks[0].affiliate_id),
        program_id=UUID(more.clicks[0].program_id),
        amount_cents=0,
        previous_amount_cents=0,
        currency=row.currency,
        commission_cents=before_cents + more.cents,
        previous_commission_cents=before_cents,
        status=row.status,
        attribution_method=METHOD,
    )
