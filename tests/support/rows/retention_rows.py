"""What is old enough to end, and the ending of it."""

from models import db
from pipelines import retention
from tests.support.databases import run_as_brand
from tests.support.rows.program_rows import time_ago
from tests.support.running.hours import start_of_test


def end_due(*kinds: str) -> dict[str, int]:
    """End all that is due of these kinds, slice by slice; returns how many rows of each."""
    ended = {}
    for kind in kinds:
        ended[kind] = 0
        while True:
            with db.any_org_work():
                of_slice = retention.any_org_slice(kind, now=start_of_test())
            ended[kind] += of_slice
            if of_slice < retention.SLICE:
                break
    return ended


def count_brand_rows(brand, table, condition="true"):
    """Return how many rows of a table the brand has."""
    return brand.rows(f"select count(*) from {table} where organization_id = %s and {condition}", brand.id)[0][0]


def insert_old_clicks(brand, affiliate_id, number, *, days=100):
    """Insert clicks of so many days ago, a second apart."""
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
    """Insert an event that nobody is told of; returns its id."""
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
    """Insert a job that failed for good so many days ago."""
    run_as_brand(
        brand,
        "insert into job (organization_id, queue, name, args, fair_key, attempt, max_attempts, failed_at)"
        " values (%s, %s, %s, '{}', 'x', 1, 1, %s)",
        brand.id,
        queue,
        name,
        time_ago(days=days),
    )
