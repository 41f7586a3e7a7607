"""Clicks as they are written: many at a time, each step one statement for the whole batch of one organization.

Batches go into a statement as JSON or as arrays, each one text: a parameter that psycopg2 makes an array of costs
several times as much to write. What many clicks have in common is written once for all of them.
Affiliates and programs have a key by their id alone, and `(organization_id = ...) is true` is a condition that no index
is chosen for: a plan that was made while the tables were small must still go by the id when they are not.
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

# Ids begin with their moment, so those of a batch lie together and nearly always nobody else's lie between them. Past
# this many that do, they are looked for one by one.
_MOST_BETWEEN = 2_000
_BETWEEN = FreshSelect("""
select id::text from click where organization_id = %(org)s and id between %(first)s and %(last)s
order by id limit %(most)s
""")
# One by one by the key: for an array of ids a plan of an empty table may go through all of an organization's clicks.
_KNOWN = FreshSelect("""
select c.id::text from unnest(%(ids)s::text[]::uuid[]) as sent (id)
cross join lateral (select id from click where organization_id = %(org)s and id = sent.id offset 0) c
""")


def known(*, organization_id: UUID, click_ids: Sequence[str]) -> set[str]:
    """Return those of the ids, one or more, that are written already. Budget: 1 round trip, 2 if many lie between."""
    between = {"org": organization_id, "first": min(click_ids), "last": max(click_ids), "most": _MOST_BETWEEN}
    found = {click_id for (click_id,) in db.run(_BETWEEN, between)}
    if len(found) < _MOST_BETWEEN:
        return found.intersection(click_ids)
    return {click_id for (click_id,) in db.run(_KNOWN, {"org": organization_id, "ids": _array(click_ids)})}


_VISITS = FreshSelect("""
select encode(visitor_hash, 'hex'), program_id::text, affiliate_id::text, slug, max(occurred_at),
  min(occurred_at) filter (where occurred_at > %(near_since)s and occurred_at < %(near_until)s),
  max(occurred_at) filter (where occurred_at > %(near_since)s and occurred_at < %(near_until)s) from click
where organization_id = %(org)s and visitor_hash = any(%(visitors)s::text::bytea[]) and occurred_at > %(since)s
group by visitor_hash, program_id, affiliate_id, slug
""")


@dataclass(frozen=True, slots=True)
class LinkVisits:
    """A visitor's clicks on one link: the last of all, the first and the last of those near (None: none is near)."""

    visitor: str
    program_id: str
    affiliate_id: str
    slug: str
    last_at: datetime
    near_first: datetime | None
    near_last: datetime | None


_LINK_VISITS = Rows(LinkVisits)


def visits(
    *, organization_id: UUID, visitors: Iterable[str], since: datetime, near: tuple[datetime, datetime]
) -> list[LinkVisits]:
    """Return what these visitors (hex) clicked on since a moment, one line per link; `near` is after and before."""
    params = {
        "org": organization_id,
        "visitors": _hashes(visitors),
        "since": since,
        "near_since": near[0],
        "near_until": near[1],
    }
    return _LINK_VISITS.all(_VISITS, params)


# Nearly always networks did little before, and then one look for all of them finds it. Past this many clicks it would
# read what an office or a carrier does all day, and each link is looked at by itself, as far as `enough`.
_MOST_AT_ONCE = 4_000
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
    """When a network clicked on one link."""

    network: str
    program_id: str
    slug: str
    moments: tuple[datetime, ...]


_NETWORK_VISITS = Rows(NetworkVisits)


def network_visits(
    *, organization_id: UUID, links: Iterable[tuple[str, str, str]], since: datetime, enough: int
) -> list[NetworkVisits]:
    """Return when these networks (hex) clicked on these links since a moment, at least the last `enough` times.

    `links` are (network, program, slug); other links of the networks may be among what is returned. Budget: 1 round
    trip, 2 where the networks were busy.
    """
    wanted = list(links)
    common = {"org": organization_id, "since": since}
    networks = _hashes({network for network, _, _ in wanted})
    found = _NETWORK_VISITS.all(_OF_NETWORKS, common | {"networks": networks, "most": _MOST_AT_ONCE})
    if sum(len(one.moments) for one in found) < _MOST_AT_ONCE:
        return found
    rows = [{"network": network, "program_id": program_id, "slug": slug} for network, program_id, slug in wanted]
    return _NETWORK_VISITS.all(_OF_LINKS, common | {"links": _json(rows), "enough": enough})


class ClickKind(NamedTuple):
    """What clicks of one link with one fate have in common, said once for all; `country` is an ISO 3166 code."""

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
    """A click to be written; hashes are hex."""

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
    """Stage clicks that `known` does not have."""
    if not clicks:
        return
    places: dict[ClickKind, int] = {}
    of_each = [places.setdefault(click.kind, len(places)) for click in clicks]
    params = {
        "org": organization_id,
        "now": now,
        "ids": _array([click.id for click in clicks]),
        "visitors": _hashes([click.visitor for click in clicks]),
        "networks": _hashes([click.network for click in clicks]),
        "moments": _plain_array([click.occurred_at for click in clicks]),
        "places": _plain_array(of_each),
        "kinds": _json([_written(kind) | {"place": place} for kind, place in places.items()]),
    }
    db.stage(_INSERT, params)


def _written(kind: ClickKind) -> dict[str, object]:
    """Return what a kind says; what it lacks is left out, so that there is less of it to write and to read."""
    return {name: said for name, said in kind._asdict().items() if said is not None and said != ()}


@dataclass(frozen=True, slots=True)
class Unscored:
    """A click that waits for its score, with what our own rules made of it."""

    id: str
    program_id: str
    affiliate_id: str
    sub_id: str | None
    occurred_at: datetime
    score: int
    reasons: list[str] | None


_UNSCORED_ROWS = Rows(Unscored)
_UNSCORED = f"""
select {columns(Unscored, id="id::text", program_id="program_id::text", affiliate_id="affiliate_id::text")} from click
where organization_id = %s and id = any(%s::text[]::uuid[]) and outcome = 'unscored'
order by occurred_at, id
"""


def unscored(*, organization_id: UUID, click_ids: Sequence[str]) -> list[Unscored]:
    """Return those of the clicks that wait for their score, in the order of time."""
    return _UNSCORED_ROWS.all(_UNSCORED, (organization_id, _array(click_ids)))


_SCORED = """
update click c set score = r.score, reasons = r.reasons, outcome = r.outcome, conversion_id = r.conversion_id
from json_to_recordset(%s) as r (id uuid, score int, reasons text[], outcome text, conversion_id uuid)
where c.organization_id = %s and c.id = r.id
"""


def stage_scored(*, organization_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage what became of clicks that waited for their score."""
    db.stage(_SCORED, (_json(rows), organization_id))


@dataclass(frozen=True, slots=True)
class ClickPartner:
    """An affiliate as far as their clicks go. `is_earning`: approved, no rehearsal, in a program that is open."""

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


def partners(*, organization_id: UUID, affiliate_ids: Iterable[str]) -> list[ClickPartner]:
    """Return those affiliates whose program pays for clicks."""
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
    """Return those of the rows that exist, locked until the transaction ends, in the order of their ids."""
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
{entries.insertion(kind="'earn'", cents="c.cents", cause="c.cause_id", at="%(now)s")}
from grown c
""")


def stage_growth(*, organization_id: UUID, rows: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Stage more commission for rows that are locked: `conversion_id`, `cents` more, `cause_id` in the ledger."""
    if rows:
        db.stage(_GROW, {"org": organization_id, "rows": _json(rows), "now": now})


def _json(rows: object) -> str:
    return orjson.dumps(rows).decode()


def _array(texts: Iterable[str]) -> str:
    """Return a list as PostgreSQL writes one, to be sent as a single text."""
    return _quoted(texts, "")


def _hashes(texts: Iterable[str]) -> str:
    """Return a list of hashes (hex) as PostgreSQL writes one of bytes."""
    return _quoted(texts, r"\\x")


def _quoted(texts: Iterable[str], sign: str) -> str:
    known = _escaped(texts)
    return "{" + f'"{sign}' + f'","{sign}'.join(known) + '"}' if known else "{}"


def _escaped(texts: Iterable[str]) -> list[str]:
    """Return texts as they stand between quotes. Ids and hashes, which most are, have nothing to escape."""
    known = list(texts)
    together = "".join(known)
    if "\\" not in together and '"' not in together:
        return known
    return [text.replace("\\", "\\\\").replace('"', '\\"') for text in known]


def _plain_array(values: Sequence[int] | Sequence[datetime]) -> str:
    """Return numbers or moments as PostgreSQL writes a list of them, which JSON does alike but for its brackets."""
    return "{" + _json(values)[1:-1] + "}"
