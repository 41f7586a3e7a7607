"""Resending a sale restarts its jobs that failed or were deleted."""

import json

import pytest

from domain import jobs
from models import db
from tests.support.recruits import Recruits

URL = "/api/tracking/s2s"
_STOPS = {
    "dead": "update job set failed_at = now(), attempt = max_attempts where organization_id = %s and name = %s",
    "lost": "delete from job where organization_id = %s and name = %s",
}


@pytest.fixture
def shop(brand):
    Recruits.create(brand)
    return brand


def _send(shop, event="order-a"):
    raw = json.dumps({"externalEventId": event, "affiliateSlug": "ben", "amountCents": 10_000}).encode()
    return shop.post_signed(URL, raw)


def _list_jobs(shop):
    return shop.rows("select name, failed_at is not null from job where organization_id = %s order by name", shop.id)


def _stop_job(shop, stop, job):
    with db.any_org_work():
        db.db.stage(_STOPS[stop], (shop.id, job.name))


def _list_credits(shop):
    return shop.rows(
        "select commission_cents, parent_id is not null from conversion where organization_id = %s order by 1 desc",
        shop.id,
    )


@pytest.mark.parametrize("stop", _STOPS)
def test_repeated_sale_with_a_stopped_settlement_is_settled(shop, drain, stop):
    _send(shop)
    _stop_job(shop, stop, jobs.SALE_SETTLE)

    answer = _send(shop)

    assert answer.json == {"ok": True, "deduped": True}
    assert _list_jobs(shop) == [("sale.settle", False)]
    drain()
    assert len(_list_credits(shop)) == 2


def test_repeated_sale_with_a_waiting_settlement_adds_no_job(shop):
    for _ in range(3):
        _send(shop)

    assert _list_jobs(shop) == [("sale.settle", False)]


def test_repeated_settled_sale_adds_no_job(shop, drain):
    _send(shop)
    drain()
    _send(shop)

    assert _list_jobs(shop) == []


@pytest.mark.parametrize("stop", _STOPS)
def test_repeated_sale_with_a_stopped_cascade_refunds_its_override(shop, drain, stop):
    _send(shop)
    drain()
    shop.refund("order-a", 5_000)
    _stop_job(shop, stop, jobs.REFUND_CASCADE)

    _send(shop)
    drain()

    assert shop.rows(
        "select reversed_cents * 2 = commission_cents from conversion where organization_id = %s", shop.id
    ) == [(True,), (True,)]
