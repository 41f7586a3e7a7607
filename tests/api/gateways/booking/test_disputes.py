"""A disputed conversion is held out of payouts, reversed if the dispute is lost, and payable if it is won."""

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
    """Return the payroll of the shop's brand, which may pay at once."""
    with db.any_org_work():
        db.db.run(VERIFIED, ("ok", shop.brand.id))
    shop.change(_PAYABLE)
    return Payroll(shop.brand)


def _compute_due_cents(payroll):
    return payroll.preview().planned.confirm_total_cents


def test_dispute_holds_the_conversion_until_it_is_won(shop, payroll):
    sale = shop.sell(cents=10_000)
    assert _compute_due_cents(payroll) == 2_000
    shop.receive(*shop.stage.dispute(sale, "opened"))
    assert shop.conversions("disputed_at is not null, status") == [(True, "Pending")]
    assert _compute_due_cents(payroll) == 0

    shop.receive(*shop.stage.dispute(sale, "won"), *shop.stage.dispute(sale, "opened"))
    assert shop.conversions("disputed_at is not null, status") == [(False, "Pending")]
    assert _compute_due_cents(payroll) == 2_000
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000)]


def test_conversion_list_and_detail_show_the_dispute(shop):
    shop.receive(*shop.stage.dispute(shop.sell(), "opened"))
    (item,) = shop.brand.get("/api/v1/conversions").json["items"]
    details = shop.brand.get(f"/api/v1/conversions/{item['id']}").json
    assert [(conversion["disputed"], conversion["isTest"]) for conversion in (item, details)] == [(True, False)] * 2


def test_pending_payout_excludes_a_disputed_sale_until_it_is_won(shop, payroll):
    undisputed = shop.sell(cents=10_000)
    disputed = shop.sell(cents=30_000, customer="2", email="bob@example.com")
    payroll.run()
    assert payroll.payouts() == [("Pending", 8_000)]

    shop.change("update job set run_at = now() + interval '1 hour' where queue = 'payouts'")
    shop.receive(*shop.stage.dispute(disputed, "opened"))
    assert payroll.payouts() == [("Pending", 2_000)]
    shop.change("update job set run_at = now() where queue = 'payouts'")
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000)]
    assert dict(shop.conversions("external_event_id, status")) == {undisputed.id: "Paid", disputed.id: "Pending"}
    assert _compute_due_cents(payroll) == 0

    shop.receive(*shop.stage.dispute(disputed, "won"))
    assert _compute_due_cents(payroll) == 6_000
    payroll.run()
    payroll.pay()
    assert payroll.payouts() == [("Paid", 2_000), ("Paid", 6_000)]


@pytest.mark.parametrize("state", ["Pending", "Denied"])
def test_lost_dispute_refunds_the_remainder(shop, state):
    sale = shop.sell(cents=10_890)
    shop.receive(*shop.stage.refund(sale, 4_356))
    if state == "Denied":
        ((conversion_id,),) = shop.conversions("id")
        response = shop.brand.person("Owner").post(f"/api/conversions/{conversion_id}/deny", {"reason": "theirs"})
        assert response.status_code == 200
    shop.receive(*shop.stage.dispute(sale, "opened"), *shop.stage.dispute(sale, "lost"))
    expected = {"Pending": (10_890, 2_178, "Refunded", None), "Denied": (10_890, 871, "Denied", None)}
    assert shop.conversions(f"{_MONEY}, disputed_at") == [expected[state]]
    assert shop.brand.rows("select amount_cents, reason from refund order by place") == [
        (4_356, None),
        (6_534, "chargeback"),
    ]


def test_paid_conversion_is_a_debt_after_a_lost_dispute_until_it_is_won(shop, payroll):
    sale = shop.sell(cents=10_000)
    payroll.run()
    payroll.pay()
    shop.receive(*shop.stage.dispute(sale, "opened"))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Paid", 2_000, 0)]
    shop.receive(*shop.stage.dispute(sale, "lost"))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Refunded", 2_000, 2_000)]
    assert payroll.lines("native_amount_cents, reversed_native_cents") == [(2_000, 2_000)]

    shop.advance_clock()
    shop.receive(*shop.stage.dispute(sale, "won"))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Paid", 2_000, 0)]
    assert payroll.lines("native_amount_cents, reversed_native_cents") == [(2_000, 0)]


def test_amount_withheld_for_a_lost_dispute_is_due_again_once_won(shop, payroll):
    lost = shop.sell(cents=10_000)
    payroll.run()
    payroll.pay()
    shop.receive(*shop.stage.dispute(lost, "lost"))
    shop.sell(cents=30_000, customer="2", email="bob@example.com")
    assert _compute_due_cents(payroll) == 4_000
    payroll.run()
    payroll.pay()
    assert shop.conversions("status, paid_cents") == [("Refunded", 0), ("Paid", 6_000)]

    shop.advance_clock()
    shop.receive(*shop.stage.dispute(lost, "won"))
    assert shop.conversions("status, paid_cents") == [("Approved", 0), ("Paid", 6_000)]
    assert _compute_due_cents(payroll) == 2_000


def test_refund_restored_after_payout_is_due(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000))
    payroll.run()
    payroll.pay()
    assert shop.conversions("status, paid_cents") == [("Paid", 1_200)]

    shop.receive(*shop.stage.restore(sale, 4_000))
    assert shop.conversions("status, paid_cents, reversed_cents") == [("Approved", 1_200, 0)]
    payroll.run()
    payroll.pay()
    assert shop.conversions("status, paid_cents") == [("Paid", 2_000)]


def test_restored_sale_is_still_held_by_its_dispute(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000), *shop.stage.dispute(sale, "opened"))
    shop.receive(*shop.stage.restore(sale, 4_000))
    assert shop.conversions(f"{_MONEY}, disputed_at is not null") == [(0, 0, "Pending", True)]
    assert _compute_due_cents(payroll) == 0
    shop.receive(*shop.stage.dispute(sale, "won"))
    assert _compute_due_cents(payroll) == 2_000


def test_override_is_held_with_its_sale(shop, payroll):
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = 10")
    shop.change(_PAYABLE)
    sale = shop.sell(cents=10_000)
    assert _compute_due_cents(payroll) == 2_200
    shop.receive(*shop.stage.dispute(sale, "opened"))
    assert _compute_due_cents(payroll) == 0
    shop.receive(*shop.stage.dispute(sale, "won"))
    assert _compute_due_cents(payroll) == 2_200


def test_sale_is_held_until_both_its_disputes_are_decided(shop, payroll):
    sale = shop.sell(cents=10_000)
    shop.receive(*shop.stage.dispute(sale, "opened"))
    shop.change("update gateway_dispute set dispute_id = 'du_other'")
    shop.receive(*shop.stage.dispute(sale, "opened"))
    shop.receive(*shop.stage.dispute(sale, "won"))
    assert _compute_due_cents(payroll) == 0
    shop.change("update gateway_dispute set state = 'won' where dispute_id <> 'du_other'")
    shop.change("update gateway_dispute set dispute_id = 'du_first' where dispute_id <> 'du_other'")
    shop.change("update gateway_dispute set dispute_id = %s where dispute_id = 'du_other'", _build_dispute_id(sale))
    shop.receive(*shop.stage.dispute(sale, "won"))
    assert _compute_due_cents(payroll) == 2_000


def _build_dispute_id(sale):
    return f"du_{sale.id.removeprefix('in_')}"


@pytest.mark.parametrize("stage", ["stripe", "mollie", "paddle", "recurly", "wix", "shopify"], indirect=True)
def test_lost_dispute_reverses_only_the_reported_amount(shop):
    sale = shop.sell(cents=10_000)
    part = dataclasses.replace(sale, purchase=dataclasses.replace(sale.purchase, cents=4_000))
    if shop.stage.gateway.name == "recurly":  # two transactions paid the invoice; one is charged back
        shop.stage.objects[f"/transactions/uuid-u-{sale.id.replace('rinv', 'rtx')}"]["amount"] = 40.0
    shop.receive(*shop.stage.dispute(part, "lost"))
    assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
    assert shop.brand.rows("select amount_cents, reason from refund") == [(4_000, "chargeback")]


@pytest.mark.parametrize("stage", ["paypal"], indirect=True)
@pytest.mark.parametrize("is_late", [False, True], ids=["refund first", "dispute first"])
@pytest.mark.parametrize(("refunded", "expected"), [(3_000, 3_000), (1_000, 3_000), (5_000, 5_000)])
def test_paypal_dispute_and_refund_of_same_money_count_once(shop, refunded, expected, is_late):
    hook = next(path for path in reversed(shop.stage.objects) if "/webhooks/" in path).rsplit("/", 1)[1]
    sale = shop.stage.pay(Purchase(cents=10_000))
    (refund,) = shop.stage.refund(sale, refunded)
    (decision,) = shop.stage.dispute(sale, "lost")
    event = json.loads(decision.body)
    event["resource"]["dispute_outcome"]["amount_refunded"] = {"currency_code": "USD", "value": "30.00"}
    decision = dataclasses.replace(decision, body=json.dumps(event).encode())
    for notification in (*sale.notifications, *((decision, refund) if is_late else (refund, decision))):
        shop.receive(sign(notification.body, hook))
    assert shop.conversions("refunded_cents") == [(expected,)]

    shop.advance_clock()
    (later_refund,) = shop.stage.refund(sale, 1_000)
    shop.receive(sign(later_refund.body, hook), sign(later_refund.body, hook))
    assert shop.conversions("refunded_cents, reversed_cents") == [(expected + 1_000, (expected + 1_000) // 5)]
