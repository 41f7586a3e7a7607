"""Clicks written per second by one writer, from the stream to commit and acknowledgement, compared with one COPY.

Included: reading the stream, parsing, skipping known clicks, duplicates and fraud rules with their lookups, the rows
with all their indexes, the earnings of paid ones (totals, ledger, history, events without endpoints), a durable commit
per batch of 4,000, the acknowledgement. 200 affiliates in three campaigns of one organization, one of which pays for
clicks (a quarter of them); every click is from a new visitor. The tenant has 50,000 earlier clicks. The clicks are in
the stream before the writer starts; the time runs from its first batch to its last. The anchor sends the same number of
prepared rows with one COPY into a table with the same columns, indexes and foreign key, and commits.
"""

import hashlib
import io
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from time import perf_counter
from typing import Any
from uuid import UUID

import redis

from adapters.clicks import serialization
from adapters.clicks.stream import FIELD, KEY
from bench.figure import Figure, Target, measure_alternately
from bench.ground import brand, history
from bench.ground.machine import owner
from bench.plan import Plan
from domain.clicks.raw_click import RawClick
from models import ids

_ROUNDS = 3
_CLICKS_PER_ROUND = 20_000
# A rate needs the time between two batches.
_MIN_CLICKS = 10_000
_PAST = 50_000
_CHUNK = 1_000
_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

_MORE = """
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
  default_commission_model, click_reward_cents, click_reward_currency)
select uuidv7(), organization_id, name, slug || n, default_commission_type, default_commission_value,
  default_commission_model, case n when 1 then 10 end, case n when 1 then 'USD' end
from program, generate_series(1, 2) n;
insert into affiliate (id, organization_id, program_id, email, email_normalized, status, source)
select uuidv7(), organization_id, id, slug || n || '@example.com', slug || n || '@example.com', 'Approved', 'Direct'
from program, generate_series(1, 50) n where slug <> 'campaign';
create table click_copy (like click including all,
  foreign key (organization_id, program_id, affiliate_id) references affiliate (organization_id, program_id, id));
"""
_COLUMNS = (
    "id, organization_id, program_id, affiliate_id, slug, visitor_hash, network_hash, occurred_at, outcome, created_at"
)


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the figure."""
    url = plan.machine.create_database("clicks_written")
    seller = brand.create(url)
    with owner(url) as cursor:
        cursor.execute(_MORE)
        cursor.execute("select program_id::text, id::text from affiliate")
        people = cursor.fetchall()
        size = max(plan.size(_CLICKS_PER_ROUND), _MIN_CLICKS)
        for table in ("click", "click_copy"):
            _copy(cursor, table, _clicks(seller.id, people, plan.size(_PAST), past=timedelta(days=2)))
        product, anchor = measure_alternately(
            partial(_write, plan, cursor, seller.id, people, size),
            partial(_measure_copy, cursor, seller.id, people, size),
            rounds=_ROUNDS,
        )
    return [Figure("clicks_written", product, "clicks/s", Target(0.5), anchor)]


def _write(plan: Plan, cursor: Any, organization_id: UUID, people: Sequence[tuple[str, str]], size: int) -> float:
    clicks = _clicks(organization_id, people, size)
    client = redis.Redis.from_url(plan.machine.env["REDIS_URL"])
    for chunk in _chunks(clicks):
        pipeline = client.pipeline()
        for click in chunk:
            pipeline.xadd(KEY, {FIELD: serialization.to_bytes(click)})
        pipeline.execute()
    history.settle_down(cursor)
    cursor.execute("select clock_timestamp()")
    (before,) = cursor.fetchone()
    with (
        plan.screen.phase("clicks to write", total=size) as report,
        plan.machine.running("clicks", "flask", "clicks") as writer,
    ):
        plan.machine.wait_for("the stream to empty", lambda: _is_empty(client, size, report), writer)
    cursor.execute(
        "select count(*), extract(epoch from max(created_at) - min(created_at)),"
        " count(*) filter (where created_at = (select max(created_at) from click))"
        " from click where created_at > %s",
        (before,),
    )
    written, seconds, in_last_batch = cursor.fetchone()
    return float((written - in_last_batch) / seconds)


def _is_empty(client: redis.Redis, size: int, report: Any) -> bool:
    left: Any = client.xlen(KEY)
    report(size - left)
    return not left


def _measure_copy(cursor: Any, organization_id: UUID, people: Sequence[tuple[str, str]], size: int) -> float:
    clicks = _clicks(organization_id, people, size)
    history.settle_down(cursor)
    return size / _copy(cursor, "click_copy", clicks)


def _copy(cursor: Any, table: str, clicks: Sequence[RawClick]) -> float:
    """Copy clicks into a table and return the duration in seconds."""
    text = io.StringIO("".join(map(_line, clicks)))
    started = perf_counter()
    cursor.copy_expert(f"copy {table} ({_COLUMNS}) from stdin", text)
    return perf_counter() - started


def _line(click: RawClick) -> str:
    hashes = rf"\\x{click.visitor}", rf"\\x{click.network}"
    ids_of = (click.id, click.organization_id, click.program_id, click.affiliate_id)
    return "\t".join((*ids_of, click.slug, *hashes, click.occurred_at, "recorded", click.occurred_at)) + "\n"


def _clicks(
    organization_id: UUID, people: Sequence[tuple[str, str]], count: int, *, past: timedelta = timedelta()
) -> list[RawClick]:
    at = datetime.now(UTC) - past
    return [
        _click(organization_id, people[number % len(people)], at + timedelta(milliseconds=number))
        for number in range(count)
    ]


def _click(organization_id: UUID, person: tuple[str, str], at: datetime) -> RawClick:
    click_id = ids.new_id()
    return RawClick(
        id=str(click_id),
        organization_id=str(organization_id),
        program_id=person[0],
        affiliate_id=person[1],
        slug=f"partner-{person[1][-8:]}",
        sub_id=None,
        occurred_at=at.isoformat(),
        visitor=hashlib.blake2b(click_id.bytes, digest_size=16).hexdigest(),
        network=hashlib.blake2b(click_id.bytes[-8:], digest_size=16).hexdigest(),
        agent=_AGENT,
        referrer_host="blog.example.com",
        query_names=("via",),
        languages=("en-GB", "en"),
    )


def _chunks(clicks: Sequence[RawClick]) -> list[Sequence[RawClick]]:
    return [clicks[start : start + _CHUNK] for start in range(0, len(clicks), _CHUNK)]
