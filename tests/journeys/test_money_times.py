"""Money rows whose given time is more than a minute ahead of the database's clock get the database's time."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters import clock
from models import db
from pipelines.conversions import refund
from pipelines.deals import charge, money
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.payroll import Payroll

_HOUR = timedelta(hours=1)
_TIMES = {
    "conversion": ("occurred_at", "created_at"),
    "deal": ("created_at", "funded_at"),
    "deal_release": ("created_at",),
    "deal_request": ("created_at", "sent_at", "answered_at"),
    "ledger_entry": ("created_at",),
    "payout": ("created_at", "submitted_at", "paid_at"),
    "payout_attempt": ("created_at", "answered_at"),
    "payout_run": ("created_at",),
    "refund": ("created_at",),
    "reversal": ("created_at",),
}


_COPY_RUN = """
insert into payout_run select (jsonb_populate_record(r, jsonb_build_object('id', uuidv7(), 'created_at', at))).*
from payout_run r, (select %s::uuid as org, %s::timestamptz as at) copy where organization_id = org
"""


@contextmanager
def _clock_one_hour_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[datetime]:
    """Set the pipelines' clock an hour ahead of the database's and yield that time."""
    ahead = clock.now() + _HOUR
    with monkeypatch.context() as patched:
        patched.setattr(clock, "now", lambda: ahead)
        yield ahead


def _list_future_columns(brand: Brand) -> list[str]:
    """Return table.column of each stored time that is ahead of the database's clock."""
    ahead = f"select count(*) from {{}} where organization_id = '{brand.id}' and {{}} > clock_timestamp()"
    pairs = [(table, column) for table, columns in _TIMES.items() for column in columns]
    return [f"{table}.{column}" for table, column in pairs if brand.rows(ahead.format(table, column)) != [(0,)]]


def _list_empty_tables(brand: Brand) -> set[str]:
    """Return the tables that have no row of the brand."""
    count = f"select count(*) from {{}} where organization_id = '{brand.id}'"
    return {table for table in _TIMES if brand.rows(count.format(table)) == [(0,)]}


def test_sales_refunds_and_payouts_get_the_database_time(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    payroll = Payroll.create(app)
    payroll.affiliate("ann")
    payroll.brand.sale(externalEventId="order-1", affiliateSlug="ann", amountCents=10_000, currency="USD")
    payroll.brand.sale(externalEventId="order-2", affiliateSlug="ann", amountCents=10_000, currency="USD")

    with _clock_one_hour_ahead(monkeypatch) as ahead:
        drain("sales")
        with db.unit_of_work(payroll.brand.id):
            refund.refund_by_external_id(
                organization_id=payroll.brand.id, external_event_id="order-1", requested_cents=100, now=ahead
            )
        payroll.run()
        payroll.pay()

    assert payroll.payouts("status") == [("Paid",)]
    assert _list_empty_tables(payroll.brand) == {"deal", "deal_release", "deal_request"}
    assert _list_future_columns(payroll.brand) == []


def test_deals_get_the_database_time(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dealing = DealScene.create(app)
    deal_id = UUID(dealing.create_accepted(50_000))

    with _clock_one_hour_ahead(monkeypatch) as ahead:
        with db.unit_of_work(dealing.brand.id):
            charge.start(money.lock_for_payment_request(organization_id=dealing.brand.id, deal_id=deal_id), now=ahead)
        drain("payouts")

    assert dealing.get_deal(str(deal_id))["status"] == "Funded"
    assert _list_future_columns(dealing.brand) == []


@pytest.mark.parametrize("shift", [timedelta(seconds=50), -_HOUR, timedelta(days=-365)])
def test_past_or_slightly_future_time_is_stored_unchanged(app: Any, shift: timedelta) -> None:
    payroll = Payroll.create_owing(app)
    payroll.run()
    at = clock.now() + shift

    payroll.execute(_COPY_RUN, payroll.brand.id, at)

    assert (at,) in payroll.brand.rows("select created_at from payout_run where organization_id = %s", payroll.brand.id)


@pytest.mark.parametrize("ahead", [timedelta(seconds=70), _HOUR, timedelta(days=400)])
def test_future_time_is_replaced_by_database_time(app: Any, ahead: timedelta) -> None:
    payroll = Payroll.create_owing(app)
    payroll.run()

    payroll.execute(_COPY_RUN, payroll.brand.id, clock.now() + ahead)

    assert _list_future_columns(payroll.brand) == []
