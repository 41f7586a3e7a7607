"""The daily look at the feed of rates, through the real actor."""

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
    """Point the service at a feed."""

    def point(url: str | None) -> None:
        override_settings(monkeypatch, rates={"feed_url": url})

    return point


def _ask():
    with db.any_org_work():
        work.enqueue(jobs.FX_REFRESH, organization_id=None)


def _left():
    with db.any_org_work():
        return db.db.run("select attempt, failed_at is not null, last_error from job where name = 'fx.refresh'")


def test_the_feed_is_stored(feed, drain):
    today = datetime.now(UTC).date()
    with serve_feed(f"currency,perUsd,date\nDZD,134.5,{today}\n".encode()) as url:
        feed(url)
        _ask()
        drain()

    assert list_rates("DZD") == [("DZD", today, Decimal("134.5"))]
    assert _left() == []


def test_without_a_feed_nothing_is_asked(feed, drain):
    feed(None)
    _ask()
    drain()

    assert _left() == []


@pytest.mark.parametrize(
    ("content", "status", "why"), [(b"", 500, "it responded 500"), (b"x", 200, "the columns must be")]
)
def test_a_feed_that_fails_is_asked_again_and_says_why(feed, drain, content, status, why):
    with serve_feed(content, status) as url:
        feed(url)
        _ask()
        drain()

    ((attempt, is_dead, error),) = _left()
    assert (attempt, is_dead) == (1, False)
    assert why in error


def test_it_is_due_in_the_afternoon():
    (entry,) = [entry for entry in schedule.SCHEDULE if entry.job is jobs.FX_REFRESH]

    assert entry.cron == "30 16 * * *"
