"""Inserts clicks in batches: each step is one statement for one organization's whole batch.

A batch is passed to a statement as JSON or array literals, each one text parameter: letting psycopg2 build arrays
costs several times as much. Values that many clicks share are passed once.
Affiliates and programs have a key on their id alone, and `(organization_id = ...) is true` is a condition that no index
serves: a plan made while the tables were small must still use the id when they have grown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from domain.clicks.gathering import HourRow
from models.conditions import OPEN_PROGRAM
from models.db import db
from models.ledger import entries
from models.prepared_statements import FreshSelect, PreparedStatement
from models.programs import budgets
from models.programs.budgets import StoredRewardTerms
from models.table import Rows, columns

# Ids begin with their time, so a batch's ids are adjacent, nearly always without others in between. If more than this
# many lie between, each id is looked up by itself.
_MAX_BETWEEN = 2_000
_BETWEEN = FreshSelect("""
select id::text from click where organization_id = %(org)s and id between %(first)s and %(last)s
order by id limit %(most)s
""")
# Each by the key: with an array of ids, a plan made for an empty table may scan all of an organization's clicks.
_EXISTING = FreshSelect("""
select c.id::text from unnest(%(ids)s::text[]::uuid[]) as sent (id)
cross join lateral (select id from click where organization_id = %(org)s and id = sent.id offset 0) c
""")


def find_existing(*, organization_id: UUID, click_ids: Sequence[str]) -> set[str]:
    """Return which of the ids (at least one) are already stored. Budget: 1 round trip, 2 if many others lie between."""
    between = {"org": organization_id, "first": min(click_ids), "last": max(click_ids), "most": _MAX_BETWEEN}
    stored_ids = {click_id for (click_id,) in db.run(_BETWEEN, between)}
    if len(stored_ids) < _MAX_BETWEEN:
        return stored_ids.intersection(click_ids)
    return {click_id for (click_id,) in db.run(_EXISTING, {"org": organization_id, "ids": _array(click_ids)})}


_VISITS = FreshSelect("""
select encode(visitor_hash, 'hex'), program_id::text, affiliate_id::text, slug, max(occurred_at),
  min(occurred_at) filter (where occurred_at > %(near_since)s and occurred_at < %(near_until)s),
  max(occurred_at) filter (where occurred_at > %(near_since)s and occurred_at < %(near_until)s) from click
where organization_id = %(org)s and visitor_hash = any(%(visitors)s::text::bytea[]) and occurred_at > %(since)s
group by visitor_hash, program_id, affiliate_id, slug
""")


@dataclass(frozen=True, slots=True)
class LinkVisits:
    """A visitor's clicks on one link: the last of all, and the first and last of the near period (None: none)."""

    visitor: str
    program_id: str
    affiliate_id: str
    slug: str
    last_at: datetime
    near_first: datetime | None
    near_last: datetime | None


_LINK_VISITS = Rows(LinkVisits)


def list_visits(
    *, organization_id: UUID, visitors: Iterable[str], since: datetime, near: tuple[datetime, datetime]
) -> list[LinkVisits]:
    """Return what these visitors (hex) clicked on since a time, one row per link; `near` is the period (from, to)."""
    params = {
        "org": organization_id,
        "visitors": _hashes(visitors),
        "since": since,
        "near_since": near[0],
        "near_until": near[1],
    }
    return _LINK_VISITS.all(_VISITS, params)


# Most networks have few clicks, and then one query finds them all. Beyond this many clicks it would read the whole day
# of an office or a carrier, so each link is queried by itself, limited to `enough` rows.
_MAX_AT_ONCE = 4_000
_OF_NETWORKS = FreshSelect("""
select encode(network_hash, 'hex'), program_id::text, slug, array_agg(occurred_at) from (
  select network_hash, program_id, slug, occurred_at from click
  where organization_id = %(org)s and network_hash = any(%(networks)s::text::bytea[]) and occurred_at > %(since)s
  limit %(most)s
) seen
group by network_hash, program_id, slug
""")
_OF_LINKS = FreshSelect("""
select n.network, n.program_id, n.slug, array_agg(seen.occurred_at)
from json_to_recordset(%(links)s) as n (network text, program_id text, slug text) cross join lateral (
  select occurred_at from click
  where organization_id = %(org)s and network_hash = decode(n.network, 'hex') and program_id = n.program_id::uuid
    and slug = n.slug and occurred_at > %(since)s
  order by occurred_at desc limit %(enough)s
) seen
group by 1, 2, 3
""")


@dataclass(frozen=True, slots=True)
class NetworkVisits:
    """The times at which a network clicked on one link."""

    network: str
    program_id: str
    slug: str
    times: tuple[datetime, ...]


_NETWORK_VISITS = Rows(NetworkVisits)


def list_network_visits(
    *, organization_id: UUID, links: Iterable[tuple[str, str, str]], since: datetime, enough: int
) -> list[NetworkVisits]:
    """Return when these networks (hex) clicked on these links since a time, at least the last `enough` times.

    `links` are (network, program, slug); the result may contain other links of the networks. Budget: 1 round trip,
    2 if the networks were busy.
    """
    requested = list(links)
    common = {"org": organization_id, "since": since}
    networks = _hashes({network for network, _, _ in requested})
    network_rows = _NETWORK_VISITS.all(_OF_NETWORKS, common | {"networks": networks, "most": _MAX_AT_ONCE})
    if sum(len(row.times) for row in network_rows) < _MAX_AT_ONCE:
        return network_rows
    rows = [{"network": network, "program_id": program_id, "slug": slug} for network, program_id, slug in requested]
    return _NETWORK_VISITS.all(_OF_LINKS, common | {"links": _json(rows), "enough": enough})


class ClickKind(NamedTuple):
    """The values that clicks of one link with one outcome share; `country` is an ISO 3166 code."""

    program_id: str
    affiliate_id: str
    slug: str
    sub_id: str | None
    is_duplicate: bool
    score: int
    reasons: tuple[str, ...]
    outcome: str
    conversion_id: UUID | None
    country: str | None


class NewClick(NamedTuple):
    """A click to insert; hashes are hex."""

    id: str
    visitor: str
    network: str
    occurred_at: datetime
    kind: ClickKind


_INSERT = PreparedStatement("""
insert into click (id, organization_id, program_id, affiliate_id, slug, sub_id, visitor_hash, network_hash,
  occurred_at, is_duplicate, score, reasons, outcome, conversion_id, country, created_at)
select c.id, %(org)s, k.program_id, k.affiliate_id, k.slug, k.sub_id, c.visitor, c.network,
  c.occurred_at, k.is_duplicate, k.score, k.reasons, k.outcome, k.conversion_id, k.country, %(now)s
from unnest(%(ids)s::text::uuid[], %(visitors)s::text::bytea[], %(networks)s::text::bytea[],
  %(moments)s::text::timestamptz[], %(places)s::text::int[]) as c (id, visitor, network, occurred_at, place)
join json_to_recordset(%(kinds)s) as k (place int, program_id uuid, affiliate_id uuid, slug text, sub_id text,
  is_duplicate boolean, score int, reasons text[], outcome text, conversion_id uuid, country text) using (place)
""")


def stage_insert(*, organization_id: UUID, clicks: Sequence[NewClick], now: datetime) -> None:
    """Stage the insert of clicks that `find_existing` did not return."""
    if not clicks:
        return
    numbers: dict[ClickKind, int] = {}
    kind_numbers = [numbers.setdefault(click.kind, len(numbers)) for click in clicks]
    params = {
        "org": organization_id,
        "now": now,
        "ids": _array([click.id for click in clicks]),
        "visitors": _hashes([click.visitor for click in clicks]),
        "networks": _hashes([click.network for click in clicks]),
        "moments": _array_from_json([click.occurred_at for click in clicks]),
        "places": _array_from_json(kind_numbers),
        "kinds": _json([_to_json_object(kind) | {"place": place} for kind, place in numbers.items()]),
    }
    db.stage(_INSERT, params)


def _to_json_object(kind: ClickKind) -> dict[str, object]:
    """Return a kind's values without empty ones, which keeps the JSON small."""
    return {name: value for name, value in kind._asdict().items() if value is not None and value != ()}


@dataclass(frozen=True, slots=True)
class UnscoredClick:
    """A click without an external score, with the score of the built-in rules."""

    id: str
    program_id: str
    affiliate_id: str
    sub_id: str | None
    occurred_at: datetime
    score: int
    reasons: list[str] | None


_UNSCORED_ROWS = Rows(UnscoredClick)
_UNSCORED = f"""
select {columns(UnscoredClick, id="id::text", program_id="program_id::text", affiliate_id="affiliate_id::text")}
from click where organization_id = %s and id = any(%s::text[]::uuid[]) and outcome = 'unscored'
order by occurred_at, id
"""


def list_unscored(*, organization_id: UUID, click_ids: Sequence[str]) -> list[UnscoredClick]:
    """Return those of the clicks that have no external score yet, by time."""
    return _UNSCORED_ROWS.all(_UNSCORED, (organization_id, _array(click_ids)))


_SET_SCORES = """
update click c set score = r.score, reasons = r.reasons, outcome = r.outcome, conversion_id = r.conversion_id
from json_to_recordset(%s) as r (id uuid, score int, reasons text[], outcome text, conversion_id uuid)
where c.organization_id = %s and c.id = r.id
"""


def stage_scores(*, organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage the scores of clicks that had none."""
    db.stage(_SET_SCORES, (_json(rows), organization_id))


@dataclass(frozen=True, slots=True)
class ClickPartner:
    """An affiliate whose clicks are paid. `is_earning`: approved, not a test affiliate, in an open program."""

    program_id: str
    affiliate_id: str
    is_earning: bool
    grace_days: int
    terms: StoredRewardTerms


_IS_EARNING = f"a.status = 'Approved' and a.deleted_at is null and not a.is_test and {OPEN_PROGRAM}"
_PARTNERS = Rows(ClickPartner)
_PAID_FOR_CLICKS = FreshSelect(f"""
select a.program_id::text, a.id::text, {_IS_EARNING}, o.payout_grace_days, {budgets.TERMS}
from unnest(%(ids)s::text[]) as w (id)
join lateral (
  select * from affiliate a where a.id = w.id::uuid and (a.organization_id = %(org)s) is true offset 0
) a on true
join lateral (
  select * from program p where p.id = a.program_id and (p.organization_id = %(org)s) is true
    and (p.default_commission_model = 'Cpc' or p.click_reward_cents is not null) offset 0
) p on true
join organization o on o.id = %(org)s
left join partner_group g on g.id = a.partner_group_id
""")


def list_partners(*, organization_id: UUID, affiliate_ids: Iterable[str]) -> list[ClickPartner]:
    """Return those of the affiliates whose program pays for clicks."""
    return _PARTNERS.all(_PAID_FOR_CLICKS, {"org": organization_id, "ids": _array(affiliate_ids)})


_HOURS = Rows(HourRow)
_LOCK_HOURS = FreshSelect(f"""
with found as materialized (
  select c.id from unnest(%(keys)s::text[]) as k (key) join lateral (
    select id from conversion
    where organization_id = %(org)s and source = %(source)s and external_event_id = k.key offset 0
  ) c on true
)
select {columns(HourRow, value="rate_value")} from conversion
where organization_id = %(org)s and id = any(array(select id from found)) order by id for update
""")


def lock_hours(*, organization_id: UUID, source: str, external_event_ids: Sequence[str]) -> list[HourRow]:
    """Return those of the rows that exist, locked until the transaction ends, by id."""
    params = {"org": organization_id, "source": source, "keys": _array(external_event_ids)}
    return _HOURS.all(_LOCK_HOURS, params)


_GROW = PreparedStatement(f"""
with grown as materialized (
  select c.id, c.organization_id, c.program_id, c.affiliate_id, c.currency, c.is_test, g.cents, g.cause_id
  from json_to_recordset(%(rows)s) as g (conversion_id uuid, cents bigint, cause_id uuid) join lateral (
    select * from conversion where organization_id = %(org)s and id = g.conversion_id offset 0
  ) c on true
), raised as (
  update conversion c
  set commission_cents = c.commission_cents + (select cents from grown where grown.id = c.id)
  where c.organization_id = %(org)s and c.id = any(array(select id from grown))
), noted as (
  insert into conversion_event
    (id, organization_id, conversion_id, event_type, amount_cents, commission_cents, occurred_at)
  select gen_random_uuid(), organization_id, id, 'adjustment', 0, cents, %(now)s from grown
)
{entries.insert_sql(kind="'earn'", cents="c.cents", cause="c.cause_id", at="%(now)s")}
from grown c
""")


def stage_growth(*, organization_id: UUID, rows: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Stage an increase of locked rows' commission: `conversion_id`, `cents` to add, `cause_id` for the ledger."""
    if rows:
        db.stage(_GROW, {"org": organization_id, "rows": _json(rows), "now": now})


def _json(rows: object) -> str:
    return orjson.dumps(rows).decode()


def _array(texts: Iterable[str]) -> str:
    """Return a PostgreSQL array literal of texts."""
    return _quote_all(texts, "")


def _hashes(texts: Iterable[str]) -> str:
    """Return a PostgreSQL array literal of bytes from hashes (hex)."""
    return _quote_all(texts, r"\\x")


def _quote_all(texts: Iterable[str], sign: str) -> str:
    escaped = _escape_all(texts)
    return "{" + f'"{sign}' + f'","{sign}'.join(escaped) + '"}' if escaped else "{}"


def _escape_all(texts: Iterable[str]) -> list[str]:
    """Return texts escaped for double quotes. Most are ids and hashes, which need no escaping."""
    items = list(texts)
    joined = "".join(items)
    if "\\" not in joined and '"' not in joined:
        return items
    return [text.replace("\\", "\\\\").replace('"', '\\"') for text in items]


def _array_from_json(values: Sequence[int] | Sequence[datetime]) -> str:
    """Return a PostgreSQL array literal of numbers or timestamps: JSON with other brackets."""
    return "{" + _json(values)[1:-1] + "}"
