"""Concurrent imports, gateway payments and signed sales of one customer are all booked, without deadlock."""

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
def _lock_customer(brand: Brand, key: str) -> Iterator[None]:
    """Lock a customer's row while the block runs."""
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"])) as connection, connection.cursor() as cursor:
        cursor.execute("set app.any_org = 'on'")
        lock_statement = "select from program_customer where organization_id = %s and customer_key = %s for update"
        cursor.execute(lock_statement, (str(brand.id), key))
        assert cursor.rowcount == 1
        yield
        connection.rollback()


def _create_ben(brand) -> None:
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("ben")


def _undo_import(brand, job_id: str) -> int:
    return brand.person("Admin").post(f"/api/imports/{job_id}/undo").status_code


def test_concurrent_import_and_payment_of_one_customer_are_both_booked(brand):
    _create_ben(brand)
    with play_gateway() as stage:
        shop = Shop(brand, stage, connect_gateway(brand.person("Owner"), stage))
        first = shop.sell(slug="ben", cents=10_000)
        shop.deliver(shop.stage.pay(Purchase(slug="ben", cents=10_000, renews=first)).notifications[0])
        (pointer,) = dispatch_pointers(("gateways",))
        (paid_at,) = brand.rows("select paid_at from gateway_payment")[0]
        row = build_past_sale(
            occurredAt=paid_at.isoformat(), processorCustomerId="cus_1", customerEmail="ann@example.com"
        )
        with _lock_customer(brand, "id:cus_1"):
            finish_booking = start_call(lambda: run_pointer(pointer))
            finish_import = start_call(lambda: import_sales(brand, row))
        finish_booking()
        response = finish_import()
        assert brand.rows("select last_error from job where last_error is not null") == []
        assert response.status_code in (200, 201), response.json

    assert brand.rows("select payments from program_customer where joined_to is null") == [(3,)]


def test_concurrent_import_undo_and_signed_sale_both_succeed(brand):
    _create_ben(brand)
    job_id = import_sales(brand, build_past_sale(processorCustomerId="cus_1", customerEmail="ann@example.com")).json[
        "jobId"
    ]
    with _lock_customer(brand, "id:cus_1"):
        finish_undo = start_call(lambda: _undo_import(brand, job_id))
        finish_sale = start_call(lambda: brand.sale(affiliateSlug="ben", customerEmail="ann@example.com").status_code)
    assert (finish_undo(), finish_sale()) == (200, 200)
    drain()

    assert brand.rows("select customer_key, payments from program_customer") == [("email:ann@example.com", 1)]
