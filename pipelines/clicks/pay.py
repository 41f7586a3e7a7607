"""Writes the results of clicks: a row that pays for them, a row in quarantine, an open case on the fraud list.

`domain.clicks.outcomes` decides each outcome; here its facts are locked and read, and everything is written. The
caller holds `advisory_locks.stage_clicks_lock`, so rows are found or created here without a race. Locks are taken in
one order: that one, the budgets by program, the conversions. Clicks have no overrides. Source: core spec, "Program"
(budgetCents, clickRewardCents), "Click and lead fraud review".
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
class ClickResult:
    """The outcome of a click, and the row that pays for it or would."""

    outcome: Outcome
    conversion_id: UUID | None = None


def settle(
    clicks: Iterable[JudgedClick], *, organization_id: UUID, strictness: str, waits_for_scorer: bool, now: datetime
) -> dict[str, ClickResult]:
    """Decide the outcome of clicks, stage everything that follows except their own rows, and return the results by id.

    Budget: none where nothing earns; else 1 round trip for every program that earns, another where its budget's
    currencies differ, 1 for the hours' rows, another where a fee changed within an hour. Writes travel with the commit.
    """
    by_outcome: defaultdict[Outcome, list[JudgedClick]] = defaultdict(list)
    for click in clicks:
        by_outcome[outcomes.outcome(click, strictness=strictness, waits_for_scorer=waits_for_scorer)].append(click)
    held_clicks, harvest = by_outcome.pop("held", []), _gather(organization_id, by_outcome.pop("earned", []))
    results: dict[str, ClickResult] = {}
    for outcome, group in by_outcome.items():
        results |= dict.fromkeys([click.id for click in group], ClickResult(outcome))
    results |= {click_id: ClickResult(outcome) for click_id, outcome in harvest.unpaid.items()}
    results |= {click.id: _hold(organization_id, click, now) for click in held_clicks}
    for gathered in harvest.gathered:
        result = ClickResult("earned", gathered.row.id if gathered.row else _stage_row(organization_id, gathered, now))
        results |= {click.id: result for click in gathered.clicks}
    _stage_growth(organization_id, harvest.gathered, now)
    fraud_events.record_blocked_clicks(
        organization_id=organization_id, clicks=map(_blocked_click, by_outcome["blocked"])
    )
    return results


def _gather(organization_id: UUID, earning: Sequence[JudgedClick]) -> GatherResult:
    """Lock the budgets and the rows of clicks that would earn, and decide what they earn."""
    hours = outcomes.group_by_hour(earning)
    purses = {
        program_id: rewards.lock_purse(organization_id=organization_id, program_id=UUID(program_id))
        for program_id in sorted({click.program_id for click in earning})
    }
    return outcomes.gather(hours, rows=_lock_hour_rows(organization_id, hours), purses=purses)


def _lock_hour_rows(organization_id: UUID, hours: Hours) -> dict[str, HourRow]:
    """Lock and return the rows that may pay for the clicks; other rows than an hour's first only where needed."""
    rows = _lock_rows(organization_id, {base for base, _ in hours})
    return rows | _lock_rows(organization_id, outcomes.list_successor_ids(hours, rows))


def _lock_rows(organization_id: UUID, names: set[str]) -> dict[str, HourRow]:
    if not names:
        return {}
    rows = batches.lock_hours(organization_id=organization_id, source=SOURCE, external_event_ids=sorted(names))
    return {row.external_event_id: row for row in rows}


def _blocked_click(click: JudgedClick) -> BlockedClick:
    return BlockedClick(click.id, UUID(click.program_id), UUID(click.affiliate_id), click.verdict, click.occurred_at)


def _hold(organization_id: UUID, click: JudgedClick, now: datetime) -> ClickResult:
    """Stage a separate row for the click, in quarantine: after a reviewer validates it, it earns like any other."""
    assert click.terms is not None
    fraud_events.record_held_click(
        organization_id=organization_id,
        click_id=click.id,
        link=(UUID(click.program_id), UUID(click.affiliate_id)),
        verdict=click.verdict,
        at=click.occurred_at,
    )
    gathered = HourClicks(gathering.held_id(click.id), None, click.terms, [click])
    return ClickResult("held", _stage_row(organization_id, gathered, now, status=ConversionStatus.Invalidated))


def _stage_row(
    organization_id: UUID, gathered: HourClicks, now: datetime, *, status: ConversionStatus = ConversionStatus.Pending
) -> UUID:
    """Stage a new row for clicks and return its id; its time is that of the first click."""
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


def _stage_growth(organization_id: UUID, all_gathered: Iterable[HourClicks], now: datetime) -> None:
    """Stage the growth of existing rows: commission, a line of history, an entry in the ledger, an event each.

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
        data=[_adjusted_data(row, more) for row, more in grown],
        at=now,
    )


def _adjusted_data(row: HourRow, more: HourClicks) -> Mapping[str, object]:
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
