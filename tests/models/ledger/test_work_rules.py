"""Ledger rules about unfinished bookings are broken only by the loss of the job."""

import pytest

from domain import jobs
from models import db
from models.jobs import losses
from models.ledger import rules
from tests.support.recruits import Recruits


@pytest.fixture
def pair(brand):
    return Recruits.create(brand)


def _find_exceptions(brand):
    with db.unit_of_work(brand.id):
        return rules.find_exceptions(brand.id, limit=5)


def _delete_job(pair, name):
    pair.change(f"delete from job where name = '{name}' returning 1")


def test_lost_settlement_job_reports_the_sale(pair, brand, rival):
    pair.sell(externalEventId="order-a", amountCents=5_000)
    assert _find_exceptions(brand) == []
    _delete_job(pair, "sale.settle")

    ((rule, exception),) = _find_exceptions(brand)

    assert rule == losses.UNSETTLED_SALE
    assert exception.startswith("sale order-a: 5000 USD accepted at ")
    assert _find_exceptions(rival) == []


def test_dead_settlement_job_is_no_exception(pair, brand):
    pair.sell(externalEventId="order-a")
    pair.change("update job set failed_at = now() where name = 'sale.settle' returning 1")

    assert _find_exceptions(brand) == []


def test_lost_cascade_job_reports_the_sale(pair, brand, drain):
    pair.sell(externalEventId="order-a", amountCents=10_000)
    drain()
    brand.refund("order-a", 4_000)
    assert _find_exceptions(brand) == []
    _delete_job(pair, "refund.cascade")

    ((rule, exception),) = _find_exceptions(brand)

    assert rule == losses.UNCASCADED_REFUND
    assert exception.startswith("sale order-a: refund of 4000 USD ")


@pytest.mark.parametrize("name", [jobs.SALE_SETTLE.name, jobs.OVERRIDE_WRITE.name, jobs.REFUND_CASCADE.name])
def test_discarded_job_is_reported_until_the_sale_is_resent(pair, brand, drain, flask, name):
    # given
    conversion_id = pair.sell(externalEventId="order-a", amountCents=10_000)
    if name == "override.write":
        pair.settle(conversion_id)
    if name == "refund.cascade":
        drain()
        brand.refund("order-a", 5_000)
    pair.change(f"update job set failed_at = now() where name = '{name}' returning 1")
    ((job_id,),) = brand.rows("select id from job where name = %s and failed_at is not null", name)

    # when
    output = flask.json("jobs", "discard", str(job_id), "--why", "by mistake")
    findings = flask.json("ledger", "check", "--org", str(brand.id), code=1)["broken"]
    brand.sale(externalEventId="order-a", amountCents=10_000)
    drain()

    # then
    amounts = {"sale.settle": 10_000, "override.write": 200, "refund.cascade": 5_000}
    assert output == {
        "discarded": job_id,
        "leaves": {
            "kind": name,
            "externalEventId": "order-a",
            "amountCents": amounts[name],
            "currency": "USD",
        },
    }
    assert [("order-a" in finding["exception"]) for finding in findings] == [True]
    assert _find_exceptions(brand) == []
    assert pair.overrides("commission_cents, reversed_cents") == [(200, 100 if name == "refund.cascade" else 0)]
    assert brand.rows("select name from job") == []


def test_every_work_rule_is_covered():
    assert set(rules.WORK) == {
        losses.UNSETTLED_SALE,
        losses.DISCARDED_WORK,
        losses.UNCASCADED_REFUND,
    }
