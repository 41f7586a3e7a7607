"""Clicks as the web processes send them, and the consumer that writes them, run in the process of the test."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from adapters import broker
from adapters.clicks import serialization
from adapters.clicks.stream import FIELD, KEY
from domain.clicks.raw_click import RawClick
from models import advisory_locks, db
from pipelines.clicks import clicks
from tests.support.api.concurrency import hold_in_thread
from tests.support.rows.brands import Brand
from tests.support.running import row_ids
from workers.clicks import ClickConsumer

HOUR = datetime(2026, 3, 1, 12, tzinfo=UTC)
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def hash_text(text: object) -> str:
    """Return a hash in hex, of the form that clicks have."""
    return hashlib.sha256(str(text).encode()).hexdigest()[:32]


def build_click(
    brand: Brand, affiliate_id: UUID, *, visitor: object = None, network: object = None, **fields: Any
) -> RawClick:
    """Return a click of now, by a new visitor from a new network; `fields` override the defaults."""
    click_id = str(row_ids.new_id())
    at = fields.pop("at", None) or datetime.now(UTC)
    values: dict[str, Any] = {
        "id": click_id,
        "organization_id": str(brand.id),
        "program_id": str(brand.programs[-1]) if brand.programs else click_id,
        "affiliate_id": str(affiliate_id),
        "slug": "ben",
        "sub_id": None,
        "occurred_at": at.isoformat(),
        "visitor": hash_text(visitor or click_id),
        "network": hash_text(network or f"network of {click_id}"),
        "agent": AGENT,
        "languages": ("en-GB", "en"),
    }
    return RawClick(**values | fields)


def write(brand: Brand, *batch: RawClick) -> clicks.WrittenClicks:
    """Write a batch in one transaction, as the consumer does."""
    with db.unit_of_work(brand.id):
        return clicks.write(batch, datetime.now(UTC))


def send(*entries: RawClick | bytes, age: timedelta | None = None) -> None:
    """Add clicks, or any bytes, to the stream; with `age`, as if they were sent that long ago."""
    client = broker.client(os.environ["REDIS_URL"])
    seconds, _ = client.time()
    for number, entry in enumerate(entries):
        entry_id = "*" if age is None else f"{int((seconds - age.total_seconds()) * 1_000)}-{number + 1}"
        client.xadd(KEY, {FIELD: entry if isinstance(entry, bytes) else serialization.to_bytes(entry)}, id=entry_id)


def consume_stream() -> int:
    """Write all clicks on the stream; return how many entries it had."""
    return ClickConsumer(os.environ["REDIS_URL"], claim_s=60).run_once()


@contextmanager
def hold_click_lock(brand: Brand) -> Iterator[None]:
    """Hold the lock under which a brand's clicks are written, while the block runs."""

    @contextmanager
    def lock() -> Iterator[None]:
        with db.unit_of_work(brand.id):
            advisory_locks.stage_clicks_lock(brand.id)
            db.db.run("select 1")
            yield

    with hold_in_thread(lock()):
        yield


def list_outcomes(brand: Brand, batch: Iterable[RawClick]) -> list[str]:
    """Return the outcomes of clicks, in their order."""
    outcome_by_id = dict(brand.rows("select id::text, outcome from click where organization_id = %s", brand.id))
    return [outcome_by_id[click.id] for click in batch]


def list_aggregates(brand: Brand) -> list[tuple[str, int, str, str]]:
    """Return external id, commission, currency and status of the rows that aggregate paid clicks."""
    return brand.rows(
        "select external_event_id, commission_cents, currency, status from conversion"
        " where source = 'cpc' and external_event_id like 'cpc:%%' order by external_event_id"
    )


def minutes_after_hour(minutes: float) -> datetime:
    """Return the time this many minutes after HOUR."""
    return HOUR + timedelta(minutes=minutes)


def sum_ledger(brand: Brand) -> list[Any]:
    """Return the sum and the number of the brand's ledger entries by kind."""
    return brand.rows("select kind, sum(amount_cents)::int, count(*) from ledger_entry group by kind order by kind")


def list_event_data(brand: Brand, event_type: str) -> list[Any]:
    """Return the data of the brand's events of a type."""
    rows = brand.rows("select body from event where type = %s order by created_at, id", event_type)
    return [json.loads(body)["data"] for (body,) in rows]


def write_on_own_connection(brand: Brand, *batch: RawClick) -> None:
    """Write clicks on a database connection of this thread, and close it."""
    try:
        write(brand, *batch)
    finally:
        db.db.drop_connection()
