"""An affiliate's balance by currency and state, through HTTP, from real sales, refunds and payouts."""

from uuid import uuid4

import pytest

from adapters import clock
from models import db
from models.conversions import conversions
from pipelines.conversions import refund
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.payroll import Payroll


def _read_balances(brand, affiliate_id):
    answer = brand.get(f"/api/v1/affiliates/{affiliate_id}/balance")
    assert answer.status_code == 200, answer.text
    assert answer.json["affiliateId"] == str(affiliate_id)
    return {
        balance.pop("currency"): tuple(
            balance[name] for name in ("onHoldCents", "payableCents", "onItsWayCents", "paidCents")
        )
        for balance in answer.json["balances"]
    }


@pytest.fixture
def payroll(app):
    """Return a brand that pays at once, with the affiliate ben."""
    payroll_brand = Payroll.create(app)
    payroll_brand.affiliate("ben")
    return payroll_brand


def test_affiliate_without_earnings_has_no_balance(brand):
    brand.program()

    assert _read_balances(brand, brand.affiliate("ben")) == {}


def test_currencies_are_separate_and_on_hold_until_due(payroll):
    payroll.execute("update organization set payout_grace_days = 30 where id = %s", payroll.brand.id)
    payroll.sell("ben", 10_000, "USD")
    payroll.sell("ben", 5_000, "JPY")
    ben = payroll.affiliates["ben"]
    assert _read_balances(payroll.brand, ben) == {"JPY": (1_000, 0, 0, 0), "USD": (2_000, 0, 0, 0)}

    payroll.execute("update conversion set hold_until = now() - interval '1 second' where currency = 'USD'")
    assert _read_balances(payroll.brand, ben) == {"JPY": (1_000, 0, 0, 0), "USD": (0, 2_000, 0, 0)}


def test_amount_moves_from_payable_to_on_its_way_to_paid(payroll):
    ben = payroll.affiliates["ben"]
    payroll.sell("ben", 10_000)
    assert _read_balances(payroll.brand, ben) == {"USD": (0, 2_000, 0, 0)}

    payroll.run()
    payroll.sell("ben", 5_000)
    assert _read_balances(payroll.brand, ben) == {"USD": (0, 1_000, 2_000, 0)}

    payroll.pay()
    assert _read_balances(payroll.brand, ben) == {"USD": (0, 1_000, 0, 2_000)}


def test_payable_amount_equals_what_a_payout_run_pays(payroll):
    ben = payroll.affiliates["ben"]
    for cents in (10_000, 333, 7):
        payroll.sell("ben", cents)
    disputed = payroll.sell("ben", 4_000)
    payroll.execute("update conversion set disputed_at = now() where id = %s", disputed)

    assert _read_balances(payroll.brand, ben) == {"USD": (800, payroll.preview().planned.confirm_total_cents, 0, 0)}


def test_refund_reduces_balance_and_is_a_debt_once_all_is_paid(payroll):
    ben = payroll.affiliates["ben"]
    payroll.sell("ben", 10_000, externalEventId="first")
    assert payroll.brand.refund("first", 2_500).status_code == 200
    assert _read_balances(payroll.brand, ben) == {"USD": (0, 1_500, 0, 0)}

    payroll.run()
    payroll.pay()
    assert payroll.brand.refund("first", 5_000).status_code == 200
    assert _read_balances(payroll.brand, ben) == {"USD": (0, -1_000, 0, 1_500)}


def test_denied_and_test_sales_are_in_no_balance(payroll):
    ben = payroll.affiliates["ben"]
    denied = payroll.sell("ben", 10_000)
    payroll.brand.other_key(is_test=True).sale(affiliateSlug="ben")
    assert payroll.brand.person("Manager").post(f"/api/conversions/{denied}/deny").status_code == 200

    assert _read_balances(payroll.brand, ben) == {}


def test_unpaid_imported_history_is_in_no_balance_before_or_after_refund(payroll):
    ben = payroll.affiliates["ben"]
    answer = import_sales(payroll.brand, build_past_sale())
    assert answer.json["imported"] == 1
    assert _read_balances(payroll.brand, ben) == {}

    with db.unit_of_work(payroll.brand.id):
        ((conversion_id,),) = db.db.run("select id from conversion")
        locked = conversions.lock(organization_id=payroll.brand.id, conversion_id=conversion_id)
        refund.refund_conversion(locked, 5_000, now=clock.now())
    assert payroll.brand.rows("select kind from ledger_entry") == [("reverse",)]
    assert _read_balances(payroll.brand, ben) == {}


def test_released_milestone_is_on_its_way_and_then_paid(app):
    scene = DealScene.create(app)
    deal_id = scene.create_funded(50_000)
    assert _read_balances(scene.brand, scene.affiliate_id) == {}

    scene.submit(deal_id)
    assert scene.approve(deal_id).status_code == 200
    assert _read_balances(scene.brand, scene.affiliate_id) == {"USD": (0, 0, 50_000, 0)}

    drain("payouts")
    assert _read_balances(scene.brand, scene.affiliate_id) == {"USD": (0, 0, 0, 50_000)}


def test_other_tenants_affiliate_balance_returns_404(payroll, rival):
    rival.program()
    payroll.sell("ben")
    for affiliate_id in (rival.affiliate("eva"), uuid4(), "x"):
        answer = payroll.brand.get(f"/api/v1/affiliates/{affiliate_id}/balance")

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.get(f"/api/v1/affiliates/{payroll.affiliates['ben']}/balance").status_code == 404


def test_round_trips_do_not_grow_with_sales(payroll):
    url = f"/api/v1/affiliates/{payroll.affiliates['ben']}/balance"
    payroll.sell("ben")
    trips_before = count_round_trips(lambda: payroll.brand.get(url))
    payroll.run()
    for currency in ("USD", "EUR", "JPY"):
        payroll.sell("ben", currency=currency)

    assert count_round_trips(lambda: payroll.brand.get(url)) == trips_before


def test_list_includes_balances_only_on_request(payroll):
    payroll.affiliate("eva")
    payroll.sell("ben", 10_000)
    payroll.sell("ben", 10_000, "EUR")
    listed = payroll.brand.get("/api/v1/affiliates?sort=name&balances=true").json["items"]

    assert [(affiliate["fullName"], [part["currency"] for part in affiliate["balances"]]) for affiliate in listed] == [
        ("Ben", ["EUR", "USD"]),
        ("Eva", []),
    ]
    ben = payroll.brand.get(f"/api/v1/affiliates/{payroll.affiliates['ben']}/balance").json
    assert listed[0]["balances"] == ben["balances"]
    for query in ("", "?balances=false"):
        assert all(
            "balances" not in affiliate for affiliate in payroll.brand.get(f"/api/v1/affiliates{query}").json["items"]
        )
    assert payroll.brand.get("/api/v1/affiliates?balances=1").status_code == 400


def test_list_balances_cost_one_round_trip_for_any_number(payroll):
    url = "/api/v1/affiliates?balances=true"
    trips_before = count_round_trips(lambda: payroll.brand.get(url))
    for slug in ("eva", "cleo"):
        payroll.affiliate(slug)
        payroll.sell(slug)

    assert (
        count_round_trips(lambda: payroll.brand.get(url))
        == trips_before
        == count_round_trips(lambda: payroll.brand.get(url[:18])) + 1
    )
