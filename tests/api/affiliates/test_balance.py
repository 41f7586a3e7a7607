"""What an affiliate has coming, by currency and state, through HTTP and out of what really happened."""

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


def _shown(brand, affiliate_id):
    answer = brand.get(f"/api/v1/affiliates/{affiliate_id}/balance")
    assert answer.status_code == 200, answer.text
    assert answer.json["affiliateId"] == str(affiliate_id)
    return {
        one.pop("currency"): tuple(one[name] for name in ("onHoldCents", "payableCents", "onItsWayCents", "paidCents"))
        for one in answer.json["balances"]
    }


@pytest.fixture
def payroll(app):
    """A brand that pays at once, and ben."""
    made = Payroll.create(app)
    made.affiliate("ben")
    return made


def test_who_earned_nothing_has_no_balance(brand):
    brand.program()

    assert _shown(brand, brand.affiliate("ben")) == {}


def test_each_currency_stands_for_itself_on_hold_until_its_day(payroll):
    payroll.execute("update organization set payout_grace_days = 30 where id = %s", payroll.brand.id)
    payroll.sell("ben", 10_000, "USD")
    payroll.sell("ben", 5_000, "JPY")
    ben = payroll.affiliates["ben"]
    assert _shown(payroll.brand, ben) == {"JPY": (1_000, 0, 0, 0), "USD": (2_000, 0, 0, 0)}

    payroll.execute("update conversion set hold_until = now() - interval '1 second' where currency = 'USD'")
    assert _shown(payroll.brand, ben) == {"JPY": (1_000, 0, 0, 0), "USD": (0, 2_000, 0, 0)}


def test_money_goes_from_payable_on_its_way_to_paid(payroll):
    ben = payroll.affiliates["ben"]
    payroll.sell("ben", 10_000)
    assert _shown(payroll.brand, ben) == {"USD": (0, 2_000, 0, 0)}

    payroll.run()
    payroll.sell("ben", 5_000)
    assert _shown(payroll.brand, ben) == {"USD": (0, 1_000, 2_000, 0)}

    payroll.pay()
    assert _shown(payroll.brand, ben) == {"USD": (0, 1_000, 0, 2_000)}


def test_what_is_payable_is_what_a_run_would_pay(payroll):
    ben = payroll.affiliates["ben"]
    for cents in (10_000, 333, 7):
        payroll.sell("ben", cents)
    disputed = payroll.sell("ben", 4_000)
    payroll.execute("update conversion set disputed_at = now() where id = %s", disputed)

    assert _shown(payroll.brand, ben) == {"USD": (800, payroll.preview().planned.confirm_total_cents, 0, 0)}


def test_a_refund_is_taken_back_and_is_a_debt_when_all_was_paid(payroll):
    ben = payroll.affiliates["ben"]
    payroll.sell("ben", 10_000, externalEventId="first")
    assert payroll.brand.refund("first", 2_500).status_code == 200
    assert _shown(payroll.brand, ben) == {"USD": (0, 1_500, 0, 0)}

    payroll.run()
    payroll.pay()
    assert payroll.brand.refund("first", 5_000).status_code == 200
    assert _shown(payroll.brand, ben) == {"USD": (0, -1_000, 0, 1_500)}


def test_a_denied_sale_and_a_test_sale_are_in_no_balance(payroll):
    ben = payroll.affiliates["ben"]
    denied = payroll.sell("ben", 10_000)
    payroll.brand.other_key(is_test=True).sale(affiliateSlug="ben")
    assert payroll.brand.person("Manager").post(f"/api/conversions/{denied}/deny").status_code == 200

    assert _shown(payroll.brand, ben) == {}


def test_history_that_is_never_paid_is_in_no_balance_before_a_refund_and_after(payroll):
    ben = payroll.affiliates["ben"]
    answer = import_sales(payroll.brand, build_past_sale())
    assert answer.json["imported"] == 1
    assert _shown(payroll.brand, ben) == {}

    with db.unit_of_work(payroll.brand.id):
        ((conversion_id,),) = db.db.run("select id from conversion")
        locked = conversions.lock(organization_id=payroll.brand.id, conversion_id=conversion_id)
        refund.refund_conversion(locked, 5_000, now=clock.now())
    assert payroll.brand.rows("select kind from ledger_entry") == [("reverse",)]
    assert _shown(payroll.brand, ben) == {}


def test_a_milestone_is_on_its_way_when_it_is_released_and_paid_then(app):
    work = DealScene.create(app)
    deal_id = work.create_funded(50_000)
    assert _shown(work.brand, work.affiliate_id) == {}

    work.submit(deal_id)
    assert work.approve(deal_id).status_code == 200
    assert _shown(work.brand, work.affiliate_id) == {"USD": (0, 0, 50_000, 0)}

    drain("payouts")
    assert _shown(work.brand, work.affiliate_id) == {"USD": (0, 0, 0, 50_000)}


def test_only_ones_own_affiliates_are_told(payroll, rival):
    rival.program()
    payroll.sell("ben")
    for stranger in (rival.affiliate("eva"), uuid4(), "x"):
        answer = payroll.brand.get(f"/api/v1/affiliates/{stranger}/balance")

        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.get(f"/api/v1/affiliates/{payroll.affiliates['ben']}/balance").status_code == 404


def test_a_balance_costs_the_same_for_one_sale_and_for_many(payroll):
    url = f"/api/v1/affiliates/{payroll.affiliates['ben']}/balance"
    payroll.sell("ben")
    one = count_round_trips(lambda: payroll.brand.get(url))
    payroll.run()
    for currency in ("USD", "EUR", "JPY"):
        payroll.sell("ben", currency=currency)

    assert count_round_trips(lambda: payroll.brand.get(url)) == one


def test_a_list_brings_the_balances_that_it_is_asked_for(payroll):
    payroll.affiliate("eva")
    payroll.sell("ben", 10_000)
    payroll.sell("ben", 10_000, "EUR")
    listed = payroll.brand.get("/api/v1/affiliates?sort=name&balances=true").json["items"]

    assert [(one["fullName"], [part["currency"] for part in one["balances"]]) for one in listed] == [
        ("Ben", ["EUR", "USD"]),
        ("Eva", []),
    ]
    ben = payroll.brand.get(f"/api/v1/affiliates/{payroll.affiliates['ben']}/balance").json
    assert listed[0]["balances"] == ben["balances"]
    for query in ("", "?balances=false"):
        assert all("balances" not in one for one in payroll.brand.get(f"/api/v1/affiliates{query}").json["items"])
    assert payroll.brand.get("/api/v1/affiliates?balances=1").status_code == 400


def test_balances_in_a_list_cost_one_statement_for_any_number(payroll):
    url = "/api/v1/affiliates?balances=true"
    one = count_round_trips(lambda: payroll.brand.get(url))
    for slug in ("eva", "cleo"):
        payroll.affiliate(slug)
        payroll.sell(slug)

    assert (
        count_round_trips(lambda: payroll.brand.get(url))
        == one
        == count_round_trips(lambda: payroll.brand.get(url[:18])) + 1
    )
