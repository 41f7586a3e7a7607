"""Fraud events: clicks and leads that the rules blocked or held, and the brand's decisions on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from models.conditions import EARNS_NOTHING
from models.db import db
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class FraudEvent:
    """A blocked or held click or lead with its affiliate. `status` is open, resolved or dismissed.

    `conversion_id` and `conversion_status` are of the held conversion, as it is now; None: no conversion.
    `occurrences` is how many blocked clicks, or leads of one burst, an event counts; `subject_id` is the first of
    them. Other events count one.
    """

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    affiliate_name: str
    affiliate_email: str
    subject: str
    subject_id: UUID
    score: int
    reasons: tuple[str, ...]
    severity: str
    action: str
    status: str
    occurred_at: datetime
    resolved_at: datetime | None
    resolved_by: UUID | None
    occurrences: int
    conversion_id: UUID | None
    conversion_status: str | None


_INSERT = PreparedStatement("""
insert into fraud_event (id, organization_id, program_id, affiliate_id, subject, subject_id, score, reasons, severity,
  action, occurred_at)
values (%(id)s, %(organization_id)s, %(program_id)s, %(affiliate_id)s, %(subject)s, %(subject_id)s, %(score)s,
  %(reasons)s, %(severity)s, %(action)s, %(occurred_at)s)
on conflict (organization_id, subject, subject_id) do nothing
""")


def stage_insert(values: Mapping[str, Any]) -> None:
    """Stage an open event; if the subject has one, that stays unchanged."""
    db.stage(_INSERT, values)


_COUNT_EVENTS = PreparedStatement("""
insert into fraud_event (id, organization_id, program_id, affiliate_id, subject, subject_id, score, reasons, severity,
  action, occurred_at, occurrences)
select id, %(org)s, program_id, affiliate_id, subject, subject_id, score, reasons, severity, action, occurred_at,
  occurrences
from json_to_recordset(%(rows)s) as r (id uuid, program_id uuid, affiliate_id uuid, subject text, subject_id uuid,
  score int, reasons text[], severity text, action text, occurred_at timestamptz, occurrences int)
order by id
on conflict (organization_id, id) do update set occurrences = fraud_event.occurrences + excluded.occurrences
""")


def stage_counts(*, organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage open events for blocked clicks or held leads in one statement; an existing event's count increases.

    This also applies to closed events. The caller counts no click and no lead twice; for clicks it holds the
    organization's lock.
    """
    if rows:
        db.stage(_COUNT_EVENTS, {"org": organization_id, "rows": orjson.dumps(rows).decode()})


# A lead has its conversion's id. Among clicks only a held one has a conversion, and its event counts only that click:
# the event stores the conversion's id once the click itself is deleted.
_ITS_CONVERSION = """case when e.subject = 'lead' then e.subject_id when e.action = 'held' then
    coalesce(e.conversion_id, (select k.conversion_id from click k
      where k.organization_id = e.organization_id and k.id = e.subject_id)) end"""
_ROWS = Rows(FraudEvent)
_COLUMNS = columns(
    FraudEvent,
    "e",
    affiliate_name="(select a.full_name from affiliate a where a.id = e.affiliate_id)",
    affiliate_email="(select a.email from affiliate a where a.id = e.affiliate_id)",
    conversion_id="c.id",
    conversion_status="c.status",
)
# The id is computed first in a subselect: under row-level security no index serves a condition with subqueries,
# so every conversion of the tenant would be read for every event.
_CONVERSION = f"""(select {_ITS_CONVERSION} as id offset 0) its left join lateral (
  select id, status, payability from conversion where organization_id = e.organization_id and id = its.id offset 0
) c on true"""
_EVENTS = f"""
select {_COLUMNS} from fraud_event e cross join lateral {_CONVERSION}
where e.organization_id = %(org)s
"""
_RECENT = f"""{_EVENTS}
  and (%(program)s::uuid is null or e.program_id = %(program)s) and (%(status)s::text is null or e.status = %(status)s)
order by e.occurred_at desc, e.id desc
limit %(limit)s
"""


def list_recent(*, organization_id: UUID, program_id: UUID | None, status: str | None, limit: int) -> list[FraudEvent]:
    """Return up to `limit` events, newest first; `program_id` and `status` None do not filter."""
    return _ROWS.all(_RECENT, {"org": organization_id, "program": program_id, "status": status, "limit": limit})


def find(*, organization_id: UUID, event_id: UUID) -> FraudEvent | None:
    """Return one event of the organization."""
    return _ROWS.first(f"{_EVENTS} and e.id = %(id)s", {"org": organization_id, "id": event_id})


_CLOSE = """
update fraud_event set status = %s, resolved_at = %s, resolved_by = %s
where organization_id = %s and id = %s and status = 'open'
returning 1
"""


def close(*, organization_id: UUID, event_id: UUID, status: str, by: UUID, at: datetime) -> bool:
    """Close an open event; False when it is no longer open."""
    return bool(db.run(_CLOSE, (status, at, by, organization_id, event_id)))


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How many clicks or leads of one action had exactly these reasons.

    `free` ones would have earned nothing, `released` ones were paid after all.
    """

    subject: str
    action: str
    reasons: tuple[str, ...]
    number: int
    free: int
    released: int


_IS_FREE = f"exists (select from {_CONVERSION} where c.payability <> 'payable')"
_IS_RELEASED = f"exists (select from {_CONVERSION} where c.payability = 'payable' and c.status not in {EARNS_NOTHING})"


_COUNTS = Rows(ReasonCount)
_COUNT_COLUMNS = columns(
    ReasonCount,
    number="sum(occurrences)",
    free=f"coalesce(sum(occurrences) filter (where {_IS_FREE}), 0)",
    released=f"count(*) filter (where {_IS_RELEASED})",
)
_COUNT_SINCE = f"""
select {_COUNT_COLUMNS}
from fraud_event e
where organization_id = %s and program_id = %s and occurred_at >= %s
group by subject, action, reasons
"""


def count_by_reasons(*, organization_id: UUID, program_id: UUID, since: datetime) -> list[ReasonCount]:
    """Return the counts of a program's events since a time, in one pass: there are few combinations of reasons."""
    return _COUNTS.all(_COUNT_SINCE, (organization_id, program_id, since))
