"""Rows of a switch as they were understood, and their verdicts: stored, judged and listed in slices by source id."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from models.db import db
from models.table import Rows, columns

_STORED = """
collection, source_id, record, problem, label, key, affiliate_ref, campaign_ref, customer_ref, program_id, kind,
currency, amount_cents, commission_cents, occurred_at, warnings
"""
_INSERT = f"""
insert into switch_item (organization_id, switch_id, {_STORED})
select %s, %s, {_STORED.replace("warnings", "coalesce(warnings, '{}')")}
from json_populate_recordset(null::switch_item, %s)
on conflict (organization_id, switch_id, collection, source_id)
"""
_STAGE_STORE = f"""
{_INSERT} do update set record = excluded.record, problem = excluded.problem, label = excluded.label,
  key = excluded.key, affiliate_ref = excluded.affiliate_ref, campaign_ref = excluded.campaign_ref,
  customer_ref = excluded.customer_ref, program_id = excluded.program_id, kind = excluded.kind,
  currency = excluded.currency, amount_cents = excluded.amount_cents, commission_cents = excluded.commission_cents,
  occurred_at = excluded.occurred_at,
  warnings = array_append(array_remove(excluded.warnings, 'equal_rows'), 'equal_rows')
"""
_STAGE_ADD = f"{_INSERT} do nothing"


def stage_store(*, organization_id: UUID, switch_id: UUID, items: Sequence[Mapping[str, Any]]) -> None:
    """Stage rows with the columns of `switch_item` that understanding fills; `record` is a JSON value.

    A row with the id of an earlier one replaces it, with the warning `equal_rows`.
    """
    if items:
        db.stage(_STAGE_STORE, (organization_id, switch_id, to_json(items)))


def stage_add(*, organization_id: UUID, switch_id: UUID, items: Sequence[Mapping[str, Any]]) -> None:
    """Stage rows that other rows imply, such as a customer whom only commissions name; known ids stay as they are."""
    if items:
        db.stage(_STAGE_ADD, (organization_id, switch_id, to_json(items)))


def to_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the JSON text of a statement that reads them with `json_populate_recordset`."""
    text = orjson.dumps(rows, default=str).decode()
    return text.replace("\\u0000", "") if "\\u0000" in text else text  # no text of the database holds a NUL


# An upsert finds each row by the primary key, whatever the planner believes of the table's size. All rows exist.
_VERDICTS = """
insert into switch_item as i (organization_id, switch_id, collection, source_id, verdict, reason, decision, target_type,
  target_id, warnings, key, kind, customer_ref)
select %s, %s, %s, source_id, verdict, reason, decision, target_type, target_id, coalesce(warnings, '{absent}'), key,
  kind, customer_ref
from json_populate_recordset(null::switch_item, %s)
on conflict (organization_id, switch_id, collection, source_id) do update
set verdict = excluded.verdict, reason = excluded.reason, decision = excluded.decision,
  target_type = excluded.target_type, target_id = excluded.target_id,
  warnings = case when excluded.warnings = '{absent}' then i.warnings else excluded.warnings end,
  key = coalesce(excluded.key, i.key), kind = coalesce(excluded.kind, i.kind),
  customer_ref = coalesce(excluded.customer_ref, i.customer_ref)
"""


def stage_verdicts(
    *, organization_id: UUID, switch_id: UUID, collection: str, verdicts: Sequence[Mapping[str, Any]]
) -> None:
    """Stage verdicts by source id: verdict, reason, decision, target_type, target_id.

    `warnings`, `key`, `kind` and `customer_ref` change only where they are given.
    """
    if verdicts:
        db.stage(_VERDICTS, (organization_id, switch_id, collection, to_json(verdicts)))


class Item(NamedTuple):
    """An item to judge, with the verdict on its affiliate, if that is in this switch.

    `owner_*` are of the affiliate's item: verdict, id here, program and key.
    """

    source_id: str
    record: Mapping[str, Any] | None
    problem: str | None
    label: str
    key: str | None
    affiliate_ref: str | None
    campaign_ref: str | None
    customer_ref: str | None
    program_id: UUID | None
    kind: str | None
    currency: str | None
    amount_cents: int | None
    commission_cents: int | None
    occurred_at: datetime | None
    warnings: Sequence[str]
    verdict: str | None
    target_id: UUID | None
    decision: Mapping[str, Any] | None
    owner_verdict: str | None
    owner_id: UUID | None
    owner_program_id: UUID | None
    owner_key: str | None


_MAX_SCANNED = 20_000
_ITEMS = Rows(Item)
_COLUMNS = columns(
    Item,
    "i",
    owner_verdict="a.verdict",
    owner_id="a.target_id",
    owner_program_id="a.program_id",
    owner_key="a.key",
)
_JOINED = """
from switch_item i
left join lateral (
  select verdict, target_id, program_id, key from switch_item
  where organization_id = i.organization_id and switch_id = i.switch_id and collection = 'affiliates'
    and source_id = i.affiliate_ref
  limit 1
) a on true
where i.organization_id = %(org)s and i.switch_id = %(switch)s and i.collection = %(collection)s
"""
_SLICE = f"""
select {_COLUMNS} {_JOINED} and i.source_id > %(after)s
order by i.source_id limit %(limit)s
"""
# The planner must not look for many negative rows among a million: it looks through so many at once.
_SCANNED = """
select source_id, commission_cents from switch_item
where organization_id = %(org)s and switch_id = %(switch)s and collection = %(collection)s and source_id > %(after)s
order by source_id limit %(scanned)s
"""
_NEGATIVE = f"""
select {_COLUMNS} {_JOINED} and i.source_id = any(array(
  select source_id from ({_SCANNED}) scanned where commission_cents < 0 order by source_id limit %(limit)s))
order by i.source_id
"""
_LAST_SCANNED = f"select max(source_id), count(*) from ({_SCANNED}) scanned"
_NOT_NEGATIVE = f"""
select {_COLUMNS} {_JOINED} and i.source_id > %(after)s and (i.commission_cents >= 0 or i.commission_cents is null)
order by i.source_id limit %(limit)s
"""
_OF_KEYS = f"select {_COLUMNS} {_JOINED} and i.key = any(%(keys)s) order by i.source_id"


class ItemSlice(NamedTuple):
    """The next items of a collection, and the source id after which the next slice begins; None after the last."""

    items: Sequence[Item]
    next_after: str | None


def list_slice(
    *,
    organization_id: UUID,
    switch_id: UUID,
    collection: str,
    after: str,
    limit: int,
    is_negative: bool | None = None,
) -> ItemSlice:
    """Return the next items of a collection; `is_negative` selects commissions below 0, or the others.

    Budget: 1 round trip, 2 for negative ones.
    """
    params = {"org": organization_id, "switch": switch_id, "collection": collection, "after": after, "limit": limit}
    if is_negative:
        return _list_negative(params | {"scanned": _MAX_SCANNED}, limit)
    rows = _ITEMS.all(_SLICE if is_negative is None else _NOT_NEGATIVE, params)
    return ItemSlice(rows, rows[-1].source_id if len(rows) == limit else None)


def _list_negative(params: Mapping[str, object], limit: int) -> ItemSlice:
    rows = _ITEMS.all(_NEGATIVE, params)
    if len(rows) == limit:
        return ItemSlice(rows, rows[-1].source_id)
    scanned = db.row(_LAST_SCANNED, params)
    assert scanned is not None  # it is an aggregate
    last, count = scanned
    return ItemSlice(rows, last if count == _MAX_SCANNED else None)


def list_of_keys(*, organization_id: UUID, switch_id: UUID, collection: str, keys: Sequence[str]) -> list[Item]:
    """Return all items of a collection with these keys, by source id: the same person, token, code or customer."""
    params = {"org": organization_id, "switch": switch_id, "collection": collection, "keys": list(keys)}
    return _ITEMS.all(_OF_KEYS, params)


_CLEAR = """
with gone as (
  delete from switch_item where ctid = any(array(
    select ctid from switch_item where organization_id = %(org)s and switch_id = %(switch)s limit %(limit)s))
    and organization_id = %(org)s and switch_id = %(switch)s
  returning 1
)
select count(*) from gone
"""


def clear(*, organization_id: UUID, switch_id: UUID, limit: int) -> int:
    """Delete up to `limit` items of a switch that is judged again, and return how many."""
    row = db.row(_CLEAR, {"org": organization_id, "switch": switch_id, "limit": limit})
    assert row is not None  # it is an aggregate
    return int(row[0])


#: The collections whose rows are listed.
LISTED_COLLECTIONS = ("affiliates", "codes", "commissions", "customers", "links")


class ListedItem(NamedTuple):
    """A row of the preview's rows. `affiliate` is the email of the affiliate to whom it belongs, if that is read."""

    collection: str
    source_id: str
    label: str
    verdict: str | None
    reason: str | None
    warnings: Sequence[str]
    currency: str | None
    amount_cents: int | None
    commission_cents: int | None
    affiliate: str | None
    occurred_at: datetime | None
    target_type: str | None
    target_id: UUID | None


_LABELS = """
select source_id, min(label) from switch_item
where organization_id = %s and switch_id = %s and collection = any(%s) and source_id = any(%s) and label <> ''
group by source_id
"""


def find_labels(
    *, organization_id: UUID, switch_id: UUID, collections: Sequence[str], source_ids: Sequence[str]
) -> dict[str, str]:
    """Return the words for people of rows, by their source ids."""
    return dict(db.run(_LABELS, (organization_id, switch_id, list(collections), list(source_ids))))


_LISTED = Rows(ListedItem)
# The affiliates are looked up by the primary key, after the limit.
_LIST = f"""
select {columns(ListedItem, "i", affiliate="a.email")} from (
select * from switch_item
where organization_id = %(org)s and switch_id = %(switch)s and collection = any(%(collections)s)
  and verdict is not null
  and (%(verdict)s::text is null or verdict = %(verdict)s) and (%(reason)s::text is null or reason = %(reason)s)
  and (collection, source_id) > (%(after_collection)s, %(after)s)
order by collection, source_id limit %(limit)s
) i
left join lateral (
  select record->>'email' as email from switch_item
  where organization_id = i.organization_id and switch_id = i.switch_id and collection = 'affiliates'
    and source_id = i.affiliate_ref
  limit 1
) a on true
order by i.collection, i.source_id
"""


def list_rows(
    *,
    organization_id: UUID,
    switch_id: UUID,
    collection: str | None,
    verdict: str | None,
    reason: str | None,
    take: int,
    cursor: tuple[str, str] | None,
) -> tuple[list[ListedItem], tuple[str, str] | None]:
    """Return up to `take` judged rows by collection and source id, and the cursor of the next page; None at the end.

    Filters that are None do not apply. A cursor is the collection and the source id of the last row before the page.
    """
    after_collection, after = cursor or ("", "")
    collections = [collection] if collection else list(LISTED_COLLECTIONS)
    params = {
        "org": organization_id,
        "switch": switch_id,
        "collections": collections,
        "verdict": verdict,
        "reason": reason,
        "after_collection": after_collection,
        "after": after,
        "limit": take + 1,
    }
    rows = _LISTED.all(_LIST, params)
    if len(rows) <= take:
        return rows, None
    last = rows[take - 1]
    return rows[:take], (last.collection, last.source_id)
