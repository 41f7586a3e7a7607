"""Rows old enough to be deleted by retention, and calls that delete them."""

from models import db
from pipelines import retention
from tests.support.databases import run_as_brand
from tests.support.rows.program_rows import time_ago
from tests.support.running.hours import start_of_test


def end_due(*kinds: str) -> dict[str, int]:
    """Delete the due rows of these kinds, slice by slice; return how many rows of each kind."""
    deleted = {}
    for kind in kinds:
        deleted[kind] = 0
        while True:
            with db.any_org_work():
                slice_count = retention.any_org_slice(kind, now=start_of_test())
            deleted[kind] += slice_count
            if slice_count < retention.SLICE:
                break
    return deleted


def count_brand_rows(brand, table, condition="true"):
    """Return how many rows the brand has in a table."""
    return brand.rows(f"select count(*) from {table} where organization_id = %s and {condition}", brand.id)[0][0]


def insert_old_clicks(brand, affiliate_id, number, *, days=100):
    """Insert this many clicks of `days` ago, a second apart."""
    run_as_brand(
        brand,
        "insert into click (id, organization_id, program_id, affiliate_id, slug, occurred_at)"
        " select gen_random_uuid(), %s, %s, %s, 'ben', now() - %s * interval '1 day' - n * interval '1 s'"
        " from generate_series(1, %s) n",
        brand.id,
        brand.programs[-1],
        affiliate_id,
        days,
        number,
    )


def insert_event(brand, kind="conversion.created", *, days=100, body="{}"):
    """Insert an event without deliveries; return its id."""
    event_id = brand.rows("select gen_random_uuid()")[0][0]
    run_as_brand(
        brand,
        "insert into event (id, organization_id, type, body, created_at) values (%s, %s, %s, %s, %s)",
        event_id,
        brand.id,
        kind,
        body,
        time_ago(days=days),
    )
    return event_id


def insert_dead_letter(brand, queue, *, days, name="webhook.deliver"):
    """Insert a job that failed permanently `days` ago."""
    run_as_brand(
        brand,
        "insert into job (organization_id, queue, name, args, fair_key, attempt, max_attempts, failed_at)"
        " values (%s, %s, %s, '{}', 'x', 1, 1, %s)",
        brand.id,
        queue,
        name,
        time_ago(days=days),
    )
