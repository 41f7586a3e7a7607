"""Kinds of rows that grow with traffic and expire: which rows belong to a kind, which are due, and how they end.

Every kind finds its oldest rows by an index and skips locked ones. `docs/decisions` explains why each table expires.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from models.conditions import EARNS_NOTHING
from models.db import db
from models.jobs import losses
from models.table import columns
from models.webhooks.failed_deliveries import FAIL_BY_JOB

#: At most this many rows are counted for an operator.
MAX_COUNTED = 1_000_000


@dataclass(frozen=True, slots=True)
class ExpiryKind:
    """A kind of rows that expire. `rows` is SQL that yields them as `r (ctid, at, …)`, oldest first.

    `kind_condition` selects the table's rows of this kind, `due_condition` those of them that are due, given the time
    `%(before)s`. `end` is SQL that follows `with due as (…)` and returns a row for each. If a text is to be replaced
    by one that only the caller can compute, rows have an `id` and that `text`; `forget` takes `{id, made}` of each.
    """

    name: str
    rows: str
    kind_condition: str
    due_condition: str
    end: str | None = None
    forget: Callable[[Sequence[Mapping[str, str]]], None] | None = None


def _oldest_first(table: str, at: str, *, more: str = "") -> str:
    return f"(select ctid, {at} as at{more} from {table} where {{condition}} order by {at} limit %(limit)s {{lock}}) r"


def _oldest_of_each(owners: str, table: str, at: str, by: str, *, more: str = "") -> str:
    # One lookup in an existing index for each of the few owners of the rows.
    return f"""{owners} o cross join lateral (
      select ctid, {at} as at{more} from {table}
      where organization_id = o.organization_id and {by} = o.id and {{condition}}
      order by {at} limit %(limit)s {{lock}}
    ) r"""


_GONE = "delete from {} where ctid = any(array(select ctid from due)) returning"
# Rows of two partitions may have the same ctid.
_GONE_OF_MONTHS = _GONE.replace(" returning", " and id = any(array(select id from due)) returning")


def _deleting_kind(name: str, table: str, at: str, *, kind_condition: str = "true") -> ExpiryKind:
    due_condition, end = f"{at} < %(before)s", _GONE.format(table) + " 1"
    return ExpiryKind(
        name, _oldest_first(table, at), kind_condition=kind_condition, due_condition=due_condition, end=end
    )


# Counted by every column that statistics on clicks use. The fraud event of a held click stores its conversion.
_COUNT_CLICKS = f""", gone as ({_GONE_OF_MONTHS.format("click")} *),
counted as (
  insert into click_hour as h (organization_id, program_id, affiliate_id, slug, sub_id, hour, is_duplicate, outcome,
    conversion_id, country, number, last_at)
  select organization_id, program_id, affiliate_id, slug, sub_id, date_trunc('hour', occurred_at) as hour, is_duplicate,
    outcome, conversion_id, country, count(*), max(occurred_at)
  from gone group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 order by 1, 2, 3, 6, 4, 5, 7, 8, 9, 10
  on conflict (organization_id, program_id, affiliate_id, hour, slug, sub_id, is_duplicate, outcome, conversion_id,
    country)
    do update set number = h.number + excluded.number, last_at = greatest(h.last_at, excluded.last_at)
),
known as (
  update fraud_event e set conversion_id = g.conversion_id from gone g
  where g.outcome = 'held' and e.organization_id = g.organization_id and e.subject = 'click' and e.subject_id = g.id
)
select 1 from gone
"""

# That a conversion owed nothing when it was created is only recorded in its first event (`models.ledger.rules`).
_DROP_EVENTS = f""", gone as ({_GONE_OF_MONTHS.format("event")} organization_id, type, body),
told as (
  select organization_id, (body::jsonb #>> '{{data,conversionId}}')::uuid as id from gone
  where case when type = 'conversion.created'
    then body::jsonb #>> '{{data,status}}' in {EARNS_NOTHING} else false end
),
marked as (
  update conversion c set born_owing_nothing = true from told t
  where c.organization_id = t.organization_id and c.id = t.id
)
select 1 from gone
"""

# With their attempts.
_DROP_DELIVERIES = f""", gone as ({_GONE_OF_MONTHS.format("delivery")} organization_id, event_id, id), let_go as (
  delete from delivery_attempt a using gone g where a.organization_id = g.organization_id
    and a.event_id = g.event_id and a.delivery_id = g.id
) select 1 from gone"""

_DROP_IMPORTS = f""", let_go as (
  update affiliate a set import_job_id = null from due d
  where a.organization_id = d.organization_id and a.import_job_id = d.id
)
{_GONE.format("import_job")} 1
"""

_FORGET_LEADS = """
with blank as (
  update lead l set email = '', name = null, email_normalized = m.made
  from json_to_recordset(%(made)s) as m (id text, made text)
  where l.organization_id = split_part(m.id, ' ', 1)::uuid and l.id = split_part(m.id, ' ', 2)::uuid
  returning l.organization_id, l.id
)
update conversion c set customer_email = null, customer_name = null, customer_avatar_url = null
from blank b where c.organization_id = b.organization_id and c.id = b.id
"""
_FORGET_ADDRESSES = """
update audit_entry a set ip = m.made from json_to_recordset(%(made)s) as m (id uuid, made text) where a.id = m.id
"""


def _stage_replacements(sql: str, replacements: Sequence[Mapping[str, str]]) -> None:
    db.stage(sql, {"made": orjson.dumps(list(replacements)).decode()})


# A failed sale job may still need the lead of its buyer.
_NO_SALE_WAITS = """not exists (
  select from job j
  where j.queue = 'sales' and j.failed_at is not null and j.organization_id = lead.organization_id
)"""
# Jobs of other queues concern money or a promise: an operator decides.
_ENDING = {"queues": list(losses.ENDING_QUEUES)}
_DEAD = """unnest(%(queues)s::text[]) o cross join lateral (
  select ctid, failed_at as at, name from job where queue = o and {condition}
  order by failed_at limit %(limit)s {lock}
) r"""
# A pending delivery may still be sent.
_OF_EVENT = "d.organization_id = event.organization_id and d.event_id = event.id"
_UNTOLD = f"(select d.id from delivery d where {_OF_EVENT} limit 1) is null"
_HOLDS_NO_KEY = """not exists (
  select from api_key k where k.organization_id = member.organization_id and k.member_id = member.id
)"""
_IS_NOT_THE_LAST_OWNER = """(role <> 'Owner' or exists (
  select from member other
  where other.organization_id = member.organization_id and other.role = 'Owner'
    and other.removed_at is null and (other.seen_at, other.id) > (member.seen_at, member.id)
))"""

KINDS: Mapping[str, ExpiryKind] = {
    kind.name: kind
    for kind in (
        ExpiryKind(
            "clicks",
            _oldest_of_each("program", "click", "occurred_at", "program_id", more=", id"),
            kind_condition="true",
            due_condition="occurred_at < %(before)s and outcome <> 'unscored'",
            end=_COUNT_CLICKS,
        ),
        ExpiryKind(
            "deliveries",
            _oldest_of_each("webhook_endpoint", "delivery", "created_at", "endpoint_id", more=", id"),
            kind_condition="status <> 'Pending'",
            due_condition="created_at < %(before)s and settled_at < %(before)s",
            end=_DROP_DELIVERIES,
        ),
        ExpiryKind(
            "events",
            _oldest_first("event", "created_at", more=", id"),
            kind_condition="true",
            due_condition=f"created_at < %(before)s and {_UNTOLD}",
            end=_DROP_EVENTS,
        ),
        ExpiryKind(
            "dead_letters",
            _DEAD,
            kind_condition="failed_at is not null",
            due_condition=f"failed_at < %(before)s and name in {losses.EXPIRING_NAMES}",
            end=f", gone as ({_GONE.format('job')} name, organization_id, args), {FAIL_BY_JOB} select name from gone",
        ),
        ExpiryKind(
            "leads",
            _oldest_first("lead", "expires_at", more=", organization_id || ' ' || id as id, email_normalized as text"),
            kind_condition="state = 'Expired' and email <> ''",
            due_condition=f"expires_at < %(before)s and {_NO_SALE_WAITS}",
            forget=functools.partial(_stage_replacements, _FORGET_LEADS),
        ),
        _deleting_kind("door_visits", "door_visit", "expires_at"),
        _deleting_kind("pixel_checkouts", "pixel_checkout", "told_at"),
        ExpiryKind(
            "audit_addresses",
            _oldest_first("audit_entry", "created_at", more=", id, ip as text"),
            kind_condition="ip not like 'hash:%%'",
            due_condition="created_at < %(before)s",
            forget=functools.partial(_stage_replacements, _FORGET_ADDRESSES),
        ),
        ExpiryKind(
            "fraud_events",
            _oldest_of_each("program", "fraud_event", "occurred_at", "program_id"),
            kind_condition="true",
            due_condition="occurred_at < %(before)s",
            end=_GONE.format("fraud_event") + " 1",
        ),
        _deleting_kind("rail_events", "rail_event", "received_at", kind_condition="outcome <> 'Contradicts'"),
        ExpiryKind(
            "gateway_payloads",
            _oldest_first("gateway_event", "received_at"),
            kind_condition="raw is not null",
            due_condition="received_at < %(before)s and status <> 'Received'",  # that one waits for its gateway
            end="update gateway_event set raw = null where ctid = any(array(select ctid from due)) returning 1",
        ),
        _deleting_kind("mail", "mail_message", "created_at", kind_condition="status <> 'Queued'"),
        _deleting_kind("notifications", "notification", "last_at"),
        _deleting_kind("invites", "affiliate_invite", "expires_at", kind_condition="state in ('Expired', 'Revoked')"),
        _deleting_kind("member_invites", "member_invite", "expires_at"),
        # A member with a key stays, and so does an organization's last Owner.
        ExpiryKind(
            "members",
            _oldest_first("member", "seen_at"),
            kind_condition=f"subject is not null and {_HOLDS_NO_KEY}",
            due_condition=f"seen_at < %(before)s and {_IS_NOT_THE_LAST_OWNER}",
            end=_GONE.format("member") + " 1",
        ),
        # With its entries.
        _deleting_kind("copilot", "copilot_conversation", "changed_at"),
        ExpiryKind(
            "imports",
            _oldest_first("import_job", "created_at", more=", organization_id, id"),
            kind_condition="(status = 'Undone' or imported = 0)",
            due_condition="created_at < %(before)s",
            end=_DROP_IMPORTS,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class ExpiryCounts:
    """The count of a kind's rows (up to MAX_COUNTED), the time of the oldest, and how many are due."""

    rows: int
    oldest: datetime | None
    due: int


_COUNT = "select count(*) from (select from {rows} limit %(limit)s) r"
_OLDEST = "select min(r.at) from {rows}"


def any_org_count(kind: ExpiryKind, *, before: datetime | None) -> ExpiryCounts:
    """Return the counts of a kind's rows, due being those older than a time (None: none)."""
    params = {"limit": MAX_COUNTED, "before": before} | _ENDING
    with _long_timeout():
        (count,) = db.run(_COUNT.format(rows=_rows(kind)), params)[0]
        (oldest,) = db.run(_OLDEST.format(rows=_rows(kind)), params | {"limit": 1})[0]
        due = 0
        if before is not None:
            (due,) = db.run(_COUNT.format(rows=_rows(kind, only_due=True)), params)[0]
    return ExpiryCounts(count, oldest, due)


_END = """
with due as materialized (select r.* from {rows} limit %(limit)s) {end}
"""
_LOCK_TEXTS = """
select r.id::text, r.text from {rows} limit %(limit)s
"""
_SKIPPING = "for update skip locked"


def any_org_end(kind: ExpiryKind, *, before: datetime, limit: int) -> list[Any]:
    """End up to `limit` due rows of a kind with its own `end`; return the value that it returns of each."""
    assert kind.end is not None
    _stage_in_order()
    sql = _END.format(rows=_rows(kind, only_due=True, lock=_SKIPPING), end=kind.end)
    ended = db.run(sql, {"limit": limit, "before": before} | _ENDING)
    return [value for (value,) in ended]


def any_org_lock_texts(kind: ExpiryKind, *, before: datetime, limit: int) -> list[tuple[str, str]]:
    """Lock up to `limit` due rows of a kind whose text is to be replaced; return (id, text) of each."""
    _stage_in_order()
    due = _rows(kind, only_due=True, lock=_SKIPPING)
    return db.run(_LOCK_TEXTS.format(rows=due), {"before": before, "limit": limit})


@dataclass(frozen=True, slots=True)
class ExpiryRun:
    """The last run of a kind: when it started and finished (None: it is running), and how many rows it ended."""

    started_at: datetime
    finished_at: datetime | None
    ended: int


_RUNS = f"""
select kind, {columns(ExpiryRun)} from retention_run
"""


def list_runs() -> dict[str, ExpiryRun]:
    """Return the last run of every kind that had one."""
    return {kind: ExpiryRun(*rest) for kind, *rest in db.run(_RUNS)}


_STAGE_START = """
insert into retention_run (kind, started_at) values (%s, %s)
on conflict (kind) do update set started_at = excluded.started_at, finished_at = null, ended = 0
"""


def stage_start(kind: str, *, at: datetime) -> None:
    """Stage the start of a run of a kind."""
    db.stage(_STAGE_START, (kind, at))


_ADD = """
update retention_run set ended = ended + %s, finished_at = %s where kind = %s returning ended
"""


def add_progress(kind: str, *, ended: int, finished_at: datetime | None) -> int:
    """Add rows to the count of a run, and finish it if given; return how many it ended so far."""
    row = db.row(_ADD, (ended, finished_at, kind))
    return int(row[0]) if row else ended


def _rows(kind: ExpiryKind, *, only_due: bool = False, lock: str = "") -> str:
    condition = f"{kind.kind_condition} and {kind.due_condition}" if only_due else kind.kind_condition
    return kind.rows.format(condition=condition, lock=lock)


def _stage_in_order() -> None:
    # A slice is read in the order of the index. If the planner estimates few due rows, it would read and sort all of
    # them for each slice.
    db.stage("set local enable_bitmapscan = off")
    db.stage("set local enable_sort = off")


@contextmanager
def _long_timeout() -> Iterator[None]:
    """Allow an operator's query a longer statement timeout."""
    db.stage("set local statement_timeout = '2min'")
    yield
    db.stage("set local statement_timeout = '15s'")
