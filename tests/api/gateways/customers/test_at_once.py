"""Imports, gateways and signed sales that count one customer at once wait for each other, and never for ever."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg2

from tests.api.gateways.conftest import Shop
from tests.support.api.concurrency import start_call
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import dispatch_pointers, drain, run_pointer
from tests.support.rows.brands import Brand


@contextmanager
def _held(brand: Brand, key: str) -> Iterator[None]:
    """Hold the row of a customer's name."""
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as elsewhere, elsewhere.cursor() as cursor:
        cursor.execute("set app.any_org = 'on'")
        named = "select from program_customer where organization_id = %s and customer_key = %s for update"
        cursor.execute(named, (str(brand.id), key))
        assert cursor.rowcount == 1
        yield
        elsewhere.rollback()


def _ben(brand) -> None:
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("ben")


def _undo(brand, job: str) -> int:
    return brand.person("Admin").post(f"/api/imports/{job}/undo").status_code


def test_import_and_payment_of_one_customer_and_day_are_both_taken(brand):
    _ben(brand)
    with play_gateway() as stage:
        shop = Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
        first = shop.sell(slug="ben", cents=10_000)
        shop.deliver(shop.stage.pay(Purchase(slug="ben", cents=10_000, renews=first)).notifications[0])
        (pointer,) = dispatch_pointers(("gateways",))
        (today,) = brand.rows("select paid_at from gateway_payment")[0]
        row = build_past_sale(
            occurredAt=today.isoformat(), processorCustomerId="cus_1", customerEmail="ann@example.com"
        )
        with _held(brand, "id:cus_1"):
            booked = start_call(lambda: run_pointer(pointer))
            imported = start_call(lambda: import_sales(brand, row))
        booked()
        answer = imported()
        assert brand.rows("select last_error from job where last_error is not null") == []
        assert answer.status_code in (200, 201), answer.json

    assert brand.rows("select payments from program_customer where joined_to is null") == [(3,)]


def test_undo_and_signed_sale_of_an_inbox_are_both_taken(brand):
    _ben(brand)
    job = import_sales(brand, build_past_sale(processorCustomerId="cus_1", customerEmail="ann@example.com")).json[
        "jobId"
    ]
    with _held(brand, "id:cus_1"):
        undone = start_call(lambda: _undo(brand, job))
        sold = start_call(lambda: brand.sale(affiliateSlug="ben", customerEmail="ann@example.com").status_code)
    assert (undone(), sold()) == (200, 200)
    drain()

    assert brand.rows("select customer_key, payments from program_customer") == [("email:ann@example.com", 1)]
