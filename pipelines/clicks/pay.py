"""What becomes of clicks that a program pays for: gathered and earned, held for a look, blocked, or beyond the budget.

Whoever calls holds the organization's turn (`batches.take_turn`), so rows are found or made here without a race.
Locks are taken in one order: the turn, the budgets by program, the conversions. An override never follows a click.
Source: core spec, "Program" (budgetCents, clickRewardCents), "Click and lead fraud review".
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain import fraud
from domain.clicks import gathering
from domain.clicks.gathering import METHOD, SOURCE
from domain.fraud import Verdict
from domain.programs.rewards import Reward
from domain.statuses import ConversionStatus, ConversionType
from domain.webhooks import events
from models import ids
from models.clicks import batches
from models.clicks.batches import Aggregate
from models.conversions import conversions
from pipelines import earn
from pipelines.fraud import events as fraud_records
from pipelines.fraud.events import BlockedClick
from pipelines.programs import rewards
from pipelines.webhooks import emit


@dataclass(frozen=True, slots=True)
class PaidClick:
    """A click that a program pays for, with its fee and what the rules made of it."""

    id: str
    program_id: UUID
    affiliate_id: UUID
    sub_id: str | None
    occurred_at: datetime
    verdict: Verdict
    reward: Reward
    grace_days: int


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a click, and the row that pays for it or would."""

    outcome: str
    conversion_id: UUID | None = None


def fates(organization_id: UUID, clicks: Sequence[PaidClick], *, strictness: str, now: datetime) -> dict[str, Fate]:
    """Stage all that follows from clicks and return what became of each, by id.

    Budget: 1 round trip for every program that earns, another where its budget's currencies differ, 1 for the rows that
    gather, another where a fee changed within an hour; what is written travels with the commit.
    """
    found: dict[str, Fate] = {}
    passed, blocked = [], []
    for click in clicks:
        decision = fraud.decide(click.verdict.score, strictness)
        if decision == "pass":
            passed.append(click)
        elif decision == "block":
            blocked.append(_blocked(click))
            found[click.id] = Fate("blocked")
        else:
            found[click.id] = _hold(organization_id, click, now)
    fraud_records.record_blocked_clicks(organization_id=organization_id, clicks=blocked)
    return found | _earn(organization_id, passed, now)


def _blocked(click: PaidClick) -> BlockedClick:
    return BlockedClick(click.id, click.program_id, click.affiliate_id, click.verdict, click.occurred_at)


def _hold(organization_id: UUID, click: PaidClick, now: datetime) -> Fate:
    """Stage a row of the click's own, in quarantine: validated on the desk, it earns like any other."""
    fraud_records.record_held_click(
        organization_id=organization_id,
        click_id=click.id,
        link=(click.program_id, click.affiliate_id),
        verdict=click.verdict,
        at=click.occurred_at,
    )
    conversion = _conversion(organization_id, click, gathering.held_id(click.id), 1, ConversionStatus.Invalidated, now)
    earn.write(conversion, now=now)
    return Fate("held", conversion.id)


_Gathering = dict[tuple[str, Reward], list[PaidClick]]


def _earn(organization_id: UUID, clicks: Sequence[PaidClick], now: datetime) -> dict[str, Fate]:
    if not clicks:
        return {}
    found: dict[str, Fate] = {}
    purses = {
        program_id: rewards.purse(organization_id=organization_id, program_id=program_id)
        for program_id in sorted({click.program_id for click in clicks})
    }
    groups = _grouped(clicks)
    rows = _rows(organization_id, groups)
    known = _as_rows(rows)
    grown: list[tuple[Aggregate, list[PaidClick]]] = []
    for (base, reward), members in groups.items():
        place = gathering.place(base, reward.fee, reward.value, known)
        if place is None:
            found |= {click.id: Fate("recorded") for click in members}
            continue
        number = purses[members[0].program_id].affordable(reward.fee, len(members))
        found |= {click.id: Fate("over_budget") for click in members[number:]}
        if number:
            name, row = place
            conversion_id = _gather(
                organization_id, members[:number], name, rows.get(name) if row else None, grown, now
            )
            found |= {click.id: Fate("earned", conversion_id) for click in members[:number]}
    _grow(organization_id, grown, now)
    return found


def _grouped(clicks: Iterable[PaidClick]) -> _Gathering:
    groups: _Gathering = defaultdict(list)
    for click in clicks:
        base = gathering.external_id(
            program_id=click.program_id, affiliate_id=click.affiliate_id, at=click.occurred_at, sub_id=click.sub_id
        )
        groups[base, click.reward].append(click)
    return groups


def _rows(organization_id: UUID, groups: _Gathering) -> dict[str, Aggregate]:
    """Return the rows that may take the clicks, locked; beside an hour's first row only where that does not fit."""
    rows = _locked(organization_id, {base for base, _ in groups})
    known, more = _as_rows(rows), set[str]()
    for base, reward in groups:
        place = gathering.place(base, reward.fee, reward.value, known)
        if place is not None and place[0] != base:
            more.update(gathering.candidates(base, reward.fee)[1:])
    return rows | _locked(organization_id, more) if more else rows


def _locked(organization_id: UUID, names: set[str]) -> dict[str, Aggregate]:
    locked = batches.lock_aggregates(organization_id=organization_id, source=SOURCE, external_event_ids=sorted(names))
    return {row.external_event_id: row for row in locked}


def _as_rows(rows: Mapping[str, Aggregate]) -> dict[str, gathering.Row]:
    return {name: gathering.Row(row.id, row.status, row.currency, row.value) for name, row in rows.items()}


def _gather(
    organization_id: UUID,
    clicks: list[PaidClick],
    name: str,
    row: Aggregate | None,
    grown: list[tuple[Aggregate, list[PaidClick]]],
    now: datetime,
) -> UUID:
    if row is not None:
        grown.append((row, clicks))
        return row.id
    made = _conversion(organization_id, clicks[0], name, len(clicks), ConversionStatus.Pending, now)
    earn.write(made, now=now)
    return made.id


def _grow(organization_id: UUID, grown: list[tuple[Aggregate, list[PaidClick]]], now: datetime) -> None:
    """Stage what rows gather on top: their commission, a line of history, an entry in the ledger, word to the brand.

    The ledger names the first click of the batch as the cause, so the same batch is never booked twice.
    """
    rows = [
        {"conversion_id": row.id, "cents": len(clicks) * clicks[0].reward.fee.cents, "cause_id": clicks[0].id}
        for row, clicks in grown
    ]
    batches.stage_growth(organization_id=organization_id, rows=rows, now=now)
    emit.events_of_type(
        organization_id=organization_id,
        type="conversion.adjusted",
        data=[_adjusted(row, clicks) for row, clicks in grown],
        at=now,
    )


def _adjusted(row: Aggregate, clicks: list[PaidClick]) -> dict[str, object]:
    before = row.commission_cents - row.reversed_cents
    return events.conversion_adjusted(
        conversion_id=row.id,
        affiliate_id=clicks[0].affiliate_id,
        program_id=clicks[0].program_id,
        amount_cents=0,
        previous_amount_cents=0,
        currency=row.currency,
        commission_cents=before + len(clicks) * clicks[0].reward.fee.cents,
        previous_commission_cents=before,
        status=row.status,
        attribution_method=METHOD,
    )


def _conversion(
    organization_id: UUID, first: PaidClick, external_id: str, number: int, status: ConversionStatus, now: datetime
) -> conversions.Conversion:
    return conversions.Conversion(
        id=ids.new_id(),
        organization_id=organization_id,
        program_id=first.program_id,
        affiliate_id=first.affiliate_id,
        source=SOURCE,
        external_event_id=external_id,
        amount_cents=0,
        currency=first.reward.fee.currency,
        commission_cents=number * first.reward.fee.cents,
        status=status.value,
        type=ConversionType.ClickReward.value,
        rate_source=first.reward.source,
        rate_type="Fixed",
        rate_value=first.reward.value,
        is_test=False,
        occurred_at=first.occurred_at,
        hold_until=first.occurred_at + timedelta(days=first.grace_days),
        created_at=now,
        attribution_method=METHOD,
        sub_id=first.sub_id,
    )
