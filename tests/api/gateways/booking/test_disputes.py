"""A disputed conversion is held out of payouts; lost it is reversed, won it is paid like any other."""

import dataclasses
import json

import pytest

from models import db
from tests.support.gateways.card.paypal import sign
from tests.support.gateways.stage import Purchase
from tests.support.rows.payroll import VERIFIED, Payroll

_MONEY = "refunded_cents, reversed_cents, status"
_PAYABLE = "update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_' || id"


@pytest.fixture
def payroll(shop):
    """Return the shop's brand as one that may pay, without days of grace."""
    with db.any_org_work():
        db.db.run(VERIFIED, ("ok", shop.brand.id))
    shop.change(_PAYABLE)
    return Payroll(shop.brand)


def _due(payroll):
    return payroll.preview().planned.confirm_total_cents


def test_a_dispute_holds_the_conversion_and_winning_lets_it_go(shop, payroll):
    sale = shop.sell(cents=10_000)
    assert _due(payroll) == 2_000
    shop.hear(*shop.stage.dispute(sale, "opened"))
    assert shop.conversions("disputed_at is not null, status") == [(True, "Pending")]
    assert _due(payroll) == 0

    shop.hear(*shop.stage.dispute(sale, "won"), *shop.stage.dispute(sale, "opened"))
    assert shop.conversions("disputed_at is not null, status") == [(False, "Pending")]
    assert _due(payroll) == 2_000
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000)]


def test_everywhere_a_conversion_is_shown_it_says_that_it_is_disputed(shop):
    shop.hear(*shop.stage.dispute(shop.sell(), "opened"))
    (listed,) = shop.brand.get("/api/v1/conversions").json["items"]
    shown = shop.brand.get(f"/api/v1/conversions/{listed['id']}").json
    assert [(each["disputed"], each["isTest"]) for each in (listed, shown)] == [(True, False)] * 2


def test_a_draft_that_was_not_sent_pays_less_while_a_sale_is_disputed(shop, payroll):
    kept = shop.sell(cents=10_000)
    disputed = shop.sell(cents=30_000, customer="2", email="bob@example.com")
    payroll.run()
    assert payroll.payouts() == [("Pending", 8_000)]

    shop.change("update job set run_at = now() + interval '1 hour' where queue = 'payouts'")
    shop.hear(*shop.stage.dispute(disputed, "opened"))
    assert payroll.payouts() == [("Pending", 2_000)]
    shop.change("update job set run_at = now() where queue = 'payouts'")
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000)]
    assert dict(shop.conversions("external_event_id, status")) == {kept.id: "Paid", disputed.id: "Pending"}
    assert _due(payroll) == 0

    shop.hear(*shop.stage.dispute(disputed, "won"))
    assert _due(payroll) == 6_000
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000), ("Paid", 6_000)]


@pytest.mark.parametrize("state", ["Pending", "Denied"])
def test_a_lost_dispute_is_a_refund_of_what_remains(shop, state):
    sale = shop.sell(cents=10_890)
    shop.hear(*shop.stage.refund(sale, 4_356))
    if state == "Denied":
        ((conversion_id,),) = shop.conversions("id")
        answer = shop.brand.person("Owner").post(f"/api/conversions/{conversion_id}/deny", {"reason": "theirs"})
        assert answer.status_code == 200
    shop.hear(*shop.stage.dispute(sale, "opened"), *shop.stage.dispute(sale, "lost"))
    expected = {"Pending": (10_890, 2_178, "Refunded", None), "Denied": (10_890, 871, "Denied", None)}
    assert shop.conversions(f"{_MONEY}, disputed_at") == [expected[state]]
    assert shop.brand.rows("select amount_cents, reason from refund order by place") == [
        (4_356, None),
        (6_534, "chargeback"),
    ]


def test_what_was_paid_and_is_lost_is_a_debt_and_none_any_more_once_it_is_won(shop, payroll):
    sale = shop.sell(cents=10_000)
    payroll.run()
    payroll.pay()
    shop.hear(*shop.stage.dispute(sale, "opened"))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Paid", 2_000, 0)]
    shop.hear(*shop.stage.dispute(sale, "lost"))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Refunded", 2_000, 2_000)]
    assert payroll.lines("native_amount_cents, reversed_native_cents") == [(2_000, 2_000)]

    shop.wait()
    shop.hear(*shop.stage.dispute(sale, "won"))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Paid", 2_000, 0)]
    assert payroll.lines("native_amount_cents, reversed_native_cents") == [(2_000, 0)]


def test_what_was_held_back_for_a_lost_dispute_is_due_again_once_it_is_won(shop, payroll):
    lost = shop.sell(cents=10_000)
    payroll.run()
    payroll.pay()
    shop.hear(*shop.stage.dispute(lost, "lost"))
    shop.sell(cents=30_000, customer="2", email="bob@example.com")
    assert _due(payroll) == 4_000
    payroll.run()
    payroll.pay()
    assert shop.conversions("status, paid_cents") == [("Refunded", 0), ("Paid", 6_000)]

    shop.wait()
    shop.hear(*shop.stage.dispute(lost, "won"))
    assert shop.conversions("status, paid_cents") == [("Approved", 0), ("Paid", 6_000)]
    assert _due(payroll) == 2_000


def test_a_part_that_comes_back_after_the_rest_was_paid_is_due(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.hear(*shop.stage.refund(sale, 4_000))
    payroll.run()
    payroll.pay()
    assert shop.conversions("status, paid_cents") == [("Paid", 1_200)]

    shop.hear(*shop.stage.restore(sale, 4_000))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Approved", 1_200, 0)]
    payroll.run()
    payroll.pay()
    assert shop.conversions("status, paid_cents") == [("Paid", 2_000)]


def test_a_dispute_of_a_sale_that_is_restored_still_holds_it(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.hear(*shop.stage.refund(sale, 4_000), *shop.stage.dispute(sale, "opened"))
    shop.hear(*shop.stage.restore(sale, 4_000))
    assert shop.conversions(f"{_MONEY}, disputed_at is not null") == [(0, 0, "Pending", True)]
    assert _due(payroll) == 0
    shop.hear(*shop.stage.dispute(sale, "won"))
    assert _due(payroll) == 2_000


def test_the_override_is_held_with_its_sale(shop, payroll):
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = 10")
    shop.change(_PAYABLE)
    sale = shop.sell(cents=10_000)
    assert _due(payroll) == 2_200
    shop.hear(*shop.stage.dispute(sale, "opened"))
    assert _due(payroll) == 0
    shop.hear(*shop.stage.dispute(sale, "won"))
    assert _due(payroll) == 2_200


def test_two_disputes_of_one_sale_hold_it_until_both_are_decided(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.hear(*shop.stage.dispute(sale, "opened"))
    shop.change("update gateway_dispute set dispute_id = 'du_other'")
    shop.hear(*shop.stage.dispute(sale, "opened"))
    shop.hear(*shop.stage.dispute(sale, "won"))
    assert _due(payroll) == 0
    shop.change("update gateway_dispute set state = 'won' where dispute_id <> 'du_other'")
    shop.change("update gateway_dispute set dispute_id = 'du_first' where dispute_id <> 'du_other'")
    shop.change("update gateway_dispute set dispute_id = %s where dispute_id = 'du_other'", _dispute_id(sale))
    shop.hear(*shop.stage.dispute(sale, "won"))
    assert _due(payroll) == 2_000


def _dispute_id(sale):
    return f"du_{sale.id.removeprefix('in_')}"


@pytest.mark.parametrize("stage", ["stripe", "mollie", "paddle", "recurly", "wix", "shopify"], indirect=True)
def test_a_lost_dispute_takes_only_what_its_gateway_says(shop):
    sale = shop.sell(cents=10_000)
    part = dataclasses.replace(sale, purchase=dataclasses.replace(sale.purchase, cents=4_000))
    if shop.stage.gateway.name == "recurly":  # an invoice that two transactions paid, of which one is charged back
        shop.stage.objects[f"/transactions/uuid-u-{sale.id.replace('rinv', 'rtx')}"]["amount"] = 40.0
    shop.hear(*shop.stage.dispute(part, "lost"))
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
    assert shop.brand.rows("select amount_cents, reason from refund") == [(4_000, "chargeback")]


@pytest.mark.parametrize("stage", ["paypal"], indirect=True)
@pytest.mark.parametrize("is_late", [False, True], ids=["refund first", "dispute first"])
@pytest.mark.parametrize(("refunded", "left"), [(3_000, 3_000), (1_000, 3_000), (5_000, 5_000)])
def test_a_dispute_at_paypal_takes_what_no_refund_took_before(shop, refunded, left, is_late):
    hook = next(path for path in reversed(shop.stage.objects) if "/webhooks/" in path).rsplit("/", 1)[1]
    sale = shop.stage.pay(Purchase(cents=10_000))
    (refund,) = shop.stage.refund(sale, refunded)
    (decided,) = shop.stage.dispute(sale, "lost")
    event = json.loads(decided.body)
    event["resource"]["dispute_outcome"]["amount_refunded"] = {"currency_code": "USD", "value": "30.00"}
    decided = dataclasses.replace(decided, body=json.dumps(event).encode())
    for one in (*sale.notifications, *((decided, refund) if is_late else (refund, decided))):
        shop.hear(sign(one.body, hook))
    assert shop.conversions("refunded_cents") == [(left,)]

    shop.wait()
    (later,) = shop.stage.refund(sale, 1_000)
    shop.hear(sign(later.body, hook), sign(later.body, hook))
    assert shop.conversions("refunded_cents, reversed_cents") == [(left + 1_000, (left + 1_000) // 5)]
