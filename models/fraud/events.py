"""Fraud events: clicks and leads that the rules blocked or held, and what the brand made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import peewee
from playhouse.postgres_ext import ArrayField

from models.conditions import EARNS_NOTHING
from models.db import db
from models.hot import Hot
from models.mutable import Moment, Table


class FraudEvent(Table):
    """A click or lead that was blocked or held. `status` is open, resolved or dismissed.

    `conversion_id` is a held click's, once the click is only a count. `occurrences` is how many blocked clicks an event
    stands for, of which `subject_id` is the first; others stand for one.
    """

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    program_id = peewee.UUIDField()
    affiliate_id = peewee.UUIDField()
    subject = peewee.TextField()
    subject_id = peewee.UUIDField()
    score = peewee.IntegerField()
    reasons = ArrayField(peewee.TextField, index=False)
    severity = peewee.TextField()
    action = peewee.TextField()
    status = peewee.TextField(default="open")
    occurred_at = Moment()
    resolved_at: Any = Moment(null=True)
    resolved_by = peewee.UUIDField(null=True)
    conversion_id = peewee.UUIDField(null=True)
    occurrences = peewee.IntegerField(default=1)


_INSERT = Hot(
    "insert into fraud_event (id, organization_id, program_id, affiliate_id, subject, subject_id, score, reasons,"
    " severity, action, occurred_at) values (%(id)s, %(organization_id)s, %(program_id)s, %(affiliate_id)s,"
    " %(subject)s, %(subject_id)s, %(score)s, %(reasons)s, %(severity)s, %(action)s, %(occurred_at)s)"
    " on conflict (organization_id, subject, subject_id) do nothing"
)


def stage_insert(values: Mapping[str, Any]) -> None:
    """Stage an open event; a subject that has one keeps it as it is."""
    db.stage(_INSERT, values)


_COUNT_BLOCKED = Hot("""
insert into fraud_event (id, organization_id, program_id, affiliate_id, subject, subject_id, score, reasons, severity,
  action, occurred_at, occurrences)
select id, %(org)s, program_id, affiliate_id, 'click', subject_id, score, reasons, severity, 'blocked', occurred_at,
  occurrences
from json_to_recordset(%(rows)s) as r (id uuid, program_id uuid, affiliate_id uuid, subject_id uuid, score int,
  reasons text[], severity text, occurred_at timestamptz, occurrences int)
order by id
on conflict (id) do update set occurrences = fraud_event.occurrences + excluded.occurrences
""")


def stage_blocked(*, organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage open events for blocked clicks, one statement for all; an event that is there counts more, closed or not.

    The caller has the turn of the organization's clicks, and counts no click twice.
    """
    if rows:
        db.stage(_COUNT_BLOCKED, {"org": organization_id, "rows": orjson.dumps(rows).decode()})


def recent(*, organization_id: UUID, program_id: UUID | None, status: str | None, limit: int) -> list[FraudEvent]:
    """Return up to `limit` events, newest first, of one program and status where they are given."""
    found = FraudEvent.select().where(FraudEvent.organization_id == organization_id)
    if program_id is not None:
        found = found.where(FraudEvent.program_id == program_id)
    if status is not None:
        found = found.where(FraudEvent.status == status)
    return list(found.order_by(FraudEvent.occurred_at.desc(), FraudEvent.id.desc()).limit(limit))


def find(*, organization_id: UUID, event_id: UUID) -> FraudEvent | None:
    """Return one event of the organization."""
    return FraudEvent.get_or_none(FraudEvent.organization_id == organization_id, FraudEvent.id == event_id)


def close(*, organization_id: UUID, event_id: UUID, status: str, by: UUID, at: datetime) -> bool:
    """Close an open event; False when it is not open any more."""
    closed = (
        FraudEvent.update(status=status, resolved_at=at, resolved_by=by)
        .where(
            FraudEvent.organization_id == organization_id,
            FraudEvent.id == event_id,
            FraudEvent.status == "open",
        )
        .execute()
    )
    return bool(closed)


@dataclass(frozen=True, slots=True)
class Count:
    """How many clicks or leads of one action had exactly these reasons; `released` ones pay by now after all."""

    subject: str
    action: str
    reasons: tuple[str, ...]
    number: int
    released: int


# A lead has its conversion's id; of clicks only a held one has a conversion, and its event stands for it alone.
_IS_RELEASED = f"""exists (select from conversion c where c.organization_id = e.organization_id
  and c.id = case when e.subject = 'lead' then e.subject_id when e.action = 'held' then
    coalesce(e.conversion_id, (select k.conversion_id from click k
      where k.organization_id = e.organization_id and k.id = e.subject_id)) end
  and c.status not in {EARNS_NOTHING})"""


def counts(*, organization_id: UUID, program_id: UUID, since: datetime) -> list[Count]:
    """Return what a program's events since a moment count, in one pass: there are few combinations of reasons."""
    rows = db.run(
        f"select subject, action, reasons, sum(occurrences), count(*) filter (where {_IS_RELEASED}) from fraud_event e"
        " where organization_id = %s and program_id = %s and occurred_at >= %s group by subject, action, reasons",
        (organization_id, program_id, since),
    )
    return [Count(subject, action, tuple(reasons), *numbers) for subject, action, reasons, *numbers in rows]
