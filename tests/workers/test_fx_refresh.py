"""The daily refresh of exchange rates, through the real actor."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from domain import jobs
from models import db
from pipelines import schedule, work
from tests.support.rows.rates import list_rates, serve_feed
from tests.support.settings_overrides import override_settings


@pytest.fixture
def feed(app, monkeypatch):
    """Return a function that sets the feed's URL."""

    def point(url: str | None) -> None:
        override_settings(monkeypatch, rates={"feed_url": url})

    return point


def _enqueue_refresh():
    with db.any_org_work():
        work.enqueue(jobs.FX_REFRESH, organization_id=None)


def _list_jobs():
    with db.any_org_work():
        return db.db.run("select attempt, failed_at is not null, last_error from job where name = 'fx.refresh'")


def test_feed_is_stored(feed, drain):
    today = datetime.now(UTC).date()
    with serve_feed(f"currency,perUsd,date\nDZD,134.5,{today}\n".encode()) as url:
        feed(url)
        _enqueue_refresh()
        drain()

    assert list_rates("DZD") == [("DZD", today, Decimal("134.5"))]
    assert _list_jobs() == []


def test_refresh_without_a_feed_sends_no_request(feed, drain):
    feed(None)
    _enqueue_refresh()
    drain()

    assert _list_jobs() == []


@pytest.mark.parametrize(
    ("content", "status", "reason"), [(b"", 500, "it responded 500"), (b"x", 200, "the columns must be")]
)
def test_failed_feed_is_retried_with_the_reason(feed, drain, content, status, reason):
    with serve_feed(content, status) as url:
        feed(url)
        _enqueue_refresh()
        drain()

    ((attempt, is_dead, error),) = _list_jobs()
    assert (attempt, is_dead) == (1, False)
    assert reason in error


def test_refresh_is_scheduled_in_the_afternoon():
    (entry,) = [entry for entry in schedule.SCHEDULE if entry.job is jobs.FX_REFRESH]

    assert entry.cron == "30 16 * * *"
