"""Sales that are booked here already are not brought again, also if they were booked after the preview.

Source: the switch-over rules, "Both systems at once".
"""

from datetime import timedelta

import pytest

from adapters import clock
from tests.api.gateways.conftest import Shop
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.switches.source_records import build_commission, list_conversions, read, run


@pytest.fixture
def brand(brand: Brand) -> Brand:
    brand.program()
    brand.affiliate("zed")
    return brand


def _sell(brand):
    answer = brand.sale(affiliateSlug="zed", customerId="cus_1", amountCents=10_000, currency="USD")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    drain()


def _build_recent(source_id="c1", **fields):
    return build_commission(source_id, occurred_at=clock.now() - timedelta(minutes=5), billing_id="cus_1", **fields)


@pytest.mark.parametrize("unpaid", ["history", "payable"])
def test_sale_that_was_booked_here_since_the_preview_is_left_out(brand, monkeypatch, unpaid):
    rows = [_build_recent(payment="p1"), _build_recent("c2", affiliate="ben", payment="p1")]
    scene = read(brand, monkeypatch, rows, unpaid=unpaid)
    assert scene.judge()["counts"]["commissions"]["new"] == 2
    _sell(brand)

    run(scene)

    assert scene.reasons("commissions") == dict.fromkeys(["c1", "c2"], "already_tracked")
    assert list_conversions(brand, "status") == {}


def test_test_sale_does_not_hide_a_commission(brand, monkeypatch):
    _sell(brand)
    brand.rows("update sale set is_test = true returning 1")
    scene = read(brand, monkeypatch, [_build_recent()])

    scene.judge()

    assert scene.reasons("commissions") == {"c1": None}


@pytest.mark.parametrize("is_test", [False, True])
@pytest.mark.parametrize("name", ["customer_id", "subscription_id", "external_id"])
def test_payment_of_a_gateway_is_found_by_customer_subscription_and_charge(brand, monkeypatch, name, is_test):
    fields = {"customer_id": "billing_id", "external_id": "charge_id"}
    with play_gateway() as stage:
        Shop(brand, stage, connect_gateway(brand.person("Owner"), stage)).sell(slug="zed", cents=10_000)
    brand.rows("update gateway_payment set is_test = %s returning 1", is_test)
    ((value, paid_at, cents),) = brand.rows(f"select {name}, paid_at, paid_cents from gateway_payment")
    rows = [build_commission("c1", occurred_at=paid_at, amount_cents=cents, **{fields.get(name, name): value})]
    scene = read(brand, monkeypatch, rows)
    scene.now = max(paid_at, clock.now()) + timedelta(minutes=2)
    scene.change(cut_over_at=scene.now)

    scene.judge()

    assert scene.reasons("commissions") == {"c1": None if is_test else "already_tracked"}
