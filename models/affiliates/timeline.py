"""The timeline of an affiliate: audit entries about them and what they own, and the times that their rows have."""

import dataclasses
from uuid import UUID

from domain.affiliates.timeline import OWNED_ACTIONS, StoredEvent
from models import conditions
from models.listing import Position
from models.prepared_statements import PreparedStatement
from models.table import Rows, columns

_EVENTS = Rows(StoredEvent)
_EMPTY: dict[str, str] = {
    "actor_type": "null::text",
    "actor_label": "null::text",
    "before": "null::jsonb",
    "after": "null::jsonb",
    "group_before": "null::text",
    "group_after": "null::text",
    "payout_id": "null::uuid",
    "conversion_id": "null::uuid",
    "amount_cents": "null::bigint",
    "currency": "null::text",
    "reason": "null::text",
    "subject": "null::text",
}
_IS_BEFORE = "(%(before)s::timestamptz is null or ({at}, {id}) < (%(before)s, %(before_id)s::uuid))"
# The affiliate's first conversions by creation: an affiliate may have a million leads before the first sale.
_FIRST_CONVERSIONS = 200
# An affiliate, an invite or a payout has its decisive entry among its first ones.
_FIRST_ENTRIES = 50


def _event_sql(kind: str, at: str, owner: str, /, **expressions: str) -> str:
    """Return the select list of an event that a row's time represents; `owner` is the row's id.

    A row may have several times, so the event's id is made of the kind and the row's id.
    """
    values = {"id": f"md5({kind} || {owner})::uuid", "at": at, "kind": kind}
    return columns(StoredEvent, **values, **_EMPTY | expressions)


def _group_name(document: str) -> str:
    return f"""(select g.name from partner_group g
    where g.organization_id = e.organization_id and g.id = (e.{document} ->> 'partnerGroupId')::uuid)"""


def _actor_sql(action: str, entity_id: str) -> str:
    """Return SQL for a join with who did what an audit entry of this action says.

    It is among the first entries of its entity. They are read before the action is compared, so that no index is used
    that has all entries of an action.
    """
    return f"""left join lateral (
    select e.actor_type, e.actor_label from (
      select e.actor_type, e.actor_label, e.action from audit_entry e
      where e.organization_id = %(org)s and e.entity_id = {entity_id}
      order by e.created_at, e.id limit {_FIRST_ENTRIES}
    ) e
    where e.action = {action} limit 1
  ) actor on true"""


_BY_ACTOR = {"actor_type": "actor.actor_type", "actor_label": "actor.actor_label"}
_ENTRY = columns(
    StoredEvent,
    "e",
    **_EMPTY
    | {
        "at": "e.created_at",
        "kind": "e.action",
        "actor_type": "e.actor_type",
        "actor_label": "e.actor_label",
        "before": "e.before - 'links'",
        "after": "e.after - 'links'",
        "group_before": _group_name("before"),
        "group_after": _group_name("after"),
    },
)
_OWNED_ENTRY = columns(
    StoredEvent,
    "e",
    **_EMPTY
    | {"at": "e.created_at", "kind": "e.action", "actor_type": "e.actor_type", "actor_label": "e.actor_label"}
    | {name: f"owned.{name}" for name in ("subject", "payout_id", "amount_cents", "currency")},
)
_NAMES = ", ".join(field.name for field in dataclasses.fields(StoredEvent))
_JOINED_AS = """case when a.import_job_id is not null then 'imported' when a.source = 'Direct' then 'added'
    when a.source = 'Invite' then 'joined' else 'applied' end"""
_IS_APPROVAL_AUDITED = """exists (
    select from audit_entry e where e.organization_id = %(org)s and e.entity_id = %(affiliate)s::text
      and e.created_at between a.approved_at - interval '5 minutes' and a.approved_at + interval '5 minutes'
      and e.after ->> 'status' = 'Approved')"""
_PAYOUT = {"payout_id": "p.id", "amount_cents": "p.amount_cents", "currency": "p.currency", "reason": "time.reason"}
_FIRST_DAY = """(select min(day) from (
    (select day from affiliate_day where organization_id = %(org)s and affiliate_id = %(affiliate)s and {figure} > 0
      order by day limit 1)
    union all
    select min(day) from day_change where organization_id = %(org)s and affiliate_id = %(affiliate)s and {figure} > 0
  ) first_days)"""
_AT_DAY = "(day::timestamp at time zone 'UTC')"
_TIMELINE = PreparedStatement(f"""
with own as materialized (select a.* from affiliate a where {conditions.OF_AFFILIATE.replace("m.", "a.")}
  and a.deleted_at is null),
entry ({_NAMES}) as (
  select {_ENTRY} from audit_entry e
  where e.organization_id = %(org)s and e.entity_id = %(affiliate)s::text
    and e.action not in ('affiliate.created', 'affiliate.applied', 'tax_form.kept')
    and {_IS_BEFORE.format(at="e.created_at", id="e.id")}
  order by e.created_at desc, e.id desc limit %(limit)s
),
owned (id, subject, payout_id, amount_cents, currency) as (
  select l.id::text, l.slug, null::uuid, null::bigint, null::text from tracking_link l
  where l.organization_id = %(org)s and l.affiliate_id = %(affiliate)s
  union all
  select c.id::text, c.code, null, null, null from affiliate_coupon c
  where c.organization_id = %(org)s and c.affiliate_id = %(affiliate)s
  union all
  select d.id::text, d.title, null, null, null from deal d
  where d.organization_id = %(org)s and d.affiliate_id = %(affiliate)s
  union all
  select p.id::text, null, p.id, p.amount_cents, p.currency from payout p
  where p.organization_id = %(org)s and p.affiliate_id = %(affiliate)s
),
owned_entry ({_NAMES}) as (
  select e.* from owned cross join lateral (
    select {_OWNED_ENTRY} from audit_entry e
    where e.organization_id = %(org)s and e.entity_id = owned.id
      and {_IS_BEFORE.format(at="e.created_at", id="e.id")} offset 0
  ) e ({_NAMES})
  where e.kind = any(array[{", ".join(f"'{action}'" for action in OWNED_ACTIONS)}])
  order by e.at desc, e.id desc limit %(limit)s
),
joining as (
  select {_event_sql(_JOINED_AS, "a.applied_at", "a.id::text", **_BY_ACTOR)}
  from own a {_actor_sql("'affiliate.created'", "a.id::text")}
),
invitation as (
  select {_event_sql("'invited'", "coalesce(i.sent_at, i.created_at)", "i.id::text", **_BY_ACTOR)}
  from affiliate_invite i {_actor_sql("'affiliate_invite.created'", "i.id::text")}
  where i.organization_id = %(org)s and i.affiliate_id = %(affiliate)s
),
approval as (
  select {_event_sql("'approved'", "a.approved_at", "a.id::text")} from own a
  where a.approved_at is not null and a.source <> 'Direct' and a.import_job_id is null and not {_IS_APPROVAL_AUDITED}
),
payment as (
  select {_event_sql("time.kind", "time.at", "p.id::text", **_PAYOUT, **_BY_ACTOR)}
  from payout p cross join lateral (values
    ('payout_sent', p.submitted_at, null::text, p.status = 'Processing', null::text),
    ('payout_paid', p.paid_at, null, true, 'payout.mark_paid'),
    ('payout_failed', p.failed_at, p.failure_reason, true, null),
    ('payout_voided', p.voided_at, null, true, 'payout.void')
  ) as time (kind, at, reason, applies, action)
  {_actor_sql("time.action", "p.id::text")}
  where p.organization_id = %(org)s and p.affiliate_id = %(affiliate)s and time.at is not null and time.applies
    and {_IS_BEFORE.format(at="time.at", id="md5(time.kind || p.id::text)::uuid")}
  order by time.at desc limit %(limit)s
),
form as (
  select {_event_sql("'tax_form_submitted'", "f.submitted_at", "f.id::text")}
  from tax_form f where f.organization_id = %(org)s and f.affiliate_id = %(affiliate)s
),
first_click as (
  select {_event_sql("'first_click'", "coalesce(k.occurred_at, " + _AT_DAY + ")", "%(affiliate)s::text")}
  from (select {_FIRST_DAY.format(figure="clicks")} as day) clicked
  left join lateral (
    select k.occurred_at from click k where k.organization_id = %(org)s and k.affiliate_id = %(affiliate)s
      and k.occurred_at >= {_AT_DAY} and k.occurred_at < {_AT_DAY} + interval '1 day'
      and not k.is_duplicate and k.outcome <> 'blocked'
    order by k.occurred_at limit 1
  ) k on true
  where day is not null
),
first_sale as (
  select {
    _event_sql(
        "'first_sale'",
        "coalesce(c.occurred_at, " + _AT_DAY + ")",
        "%(affiliate)s::text",
        conversion_id="c.id",
        amount_cents="c.amount_cents",
        currency="c.currency",
    )
}
  from (select {_FIRST_DAY.format(figure="sales")} as day) sold
  left join lateral (
    select c.* from (
      select * from conversion c where c.organization_id = %(org)s and c.affiliate_id = %(affiliate)s
      order by c.created_at, c.id limit {_FIRST_CONVERSIONS}
    ) c
    where c.type in ('OneTime', 'Recurring') and c.parent_id is null and not c.is_test
      and c.status not in {conditions.EARNS_NOTHING}
    order by c.occurred_at, c.id limit 1
  ) c on true
  where day is not null
)
select * from (
  select * from entry union all select * from owned_entry union all select * from joining
  union all select * from invitation union all select * from approval union all select * from payment
  union all select * from form union all select * from first_click union all select * from first_sale
) events
where exists (select from own) and {_IS_BEFORE.format(at="at", id="id")}
order by at desc, id desc limit %(limit)s
""")


def list_events(*, organization_id: UUID, affiliate_id: UUID, after: Position | None, limit: int) -> list[StoredEvent]:
    """Return up to `limit` events of an affiliate, newest first, after a position.

    None of an affiliate who is deleted or of another organization, whose id may be in entries of this one.

    Budget: 1 statement, whatever the number of clicks and conversions.
    """
    before, before_id = after or (None, None)
    params = {"org": organization_id, "affiliate": affiliate_id, "before": before, "before_id": before_id}
    return _EVENTS.all(_TIMELINE, params | {"limit": limit})
