"""Refunds that the brand books of a gateway's payment, and what the gateway reports of the same money before and after.

Nothing is taken back twice, and nothing of the difference is lost.
"""

import random
from uuid import UUID

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.decisions import read_refund_state, refund_by_id, undo_refund
from tests.support.gateways.stage import Purchase


@pytest.fixture
def sale(shop):
    """Return a payment of 10000 of which jane earns 2000."""
    return shop.sell(cents=10_000)


@pytest.fixture
def admin(shop):
    return shop.brand.person("Admin")


def _id(shop) -> UUID:
    ((conversion_id,),) = shop.conversions("id")
    return conversion_id


def _money(shop):
    return read_refund_state(shop.brand, _id(shop))


def _desk(shop, cents):
    answer = refund_by_id(shop.brand, _id(shop), **({} if cents is None else {"amountCents": cents}))
    assert answer.status_code == 200, answer.json
    return answer.json


@pytest.mark.parametrize(
    ("desk", "reported", "refunded"),
    [
        (4_000, [4_000], 4_000),
        (4_000, [3_000], 4_000),
        (4_000, [6_000], 6_000),
        (4_000, [1_000, 2_000, 3_000], 6_000),
        (4_000, [10_000], 10_000),
        (None, [10_000], 10_000),
        (None, [4_000], 10_000),
    ],
)
def test_gateways_report_of_what_the_brand_refunded_takes_back_only_the_difference(
    shop, sale, desk, reported, refunded
):
    _desk(shop, desk)
    for cents in reported:
        shop.hear(*shop.stage.refund(sale, cents))

    earned = 2_000 - refunded // 5
    assert _money(shop) == (refunded, earned, "Refunded" if refunded == 10_000 else "Pending")
    assert sum(event["refundedAmountCents"] for event in shop.told("conversion.refunded")) == refunded


def test_brands_refund_after_the_gateways_is_of_other_money(shop, sale):
    shop.hear(*shop.stage.refund(sale, 4_000))

    assert _desk(shop, 4_000)["cumulativeRefundedAmountCents"] == 8_000
    shop.hear(*shop.stage.refund(sale, 4_000))
    assert _money(shop) == (8_000, 400, "Pending")
    shop.hear(*shop.stage.refund(sale, 1_000))
    assert _money(shop) == (9_000, 200, "Pending")


def test_brand_cannot_refund_what_the_gateway_refunded_in_full(shop, sale):
    shop.hear(*shop.stage.refund(sale, 10_000))

    answer = refund_by_id(shop.brand, _id(shop))
    assert (answer.status_code, answer.json["error"]) == (422, "already_fully_refunded")


def test_only_what_the_gateway_has_not_reported_is_undone(shop, sale, admin):
    _desk(shop, 4_000)
    shop.hear(*shop.stage.refund(sale, 3_000))

    assert undo_refund(admin, _id(shop)).json["refundedAmountCents"] == 3_000
    again = undo_refund(admin, _id(shop))
    assert (again.status_code, again.json["error"]) == (409, "nothing_to_restore")
    assert _money(shop) == (3_000, 1_400, "Pending")


@pytest.mark.parametrize("cents", [3_000, 10_000])
def test_gateways_own_refund_is_not_undone_by_a_person(shop, sale, admin, cents):
    shop.hear(*shop.stage.refund(sale, cents))

    answer = undo_refund(admin, _id(shop))
    assert (answer.status_code, answer.json["error"]) == (409, "nothing_to_restore")
    assert _money(shop)[0] == cents


def test_money_that_comes_back_at_the_gateway_leaves_the_brands_refund(shop, sale):
    shop.hear(*shop.stage.refund(sale, 3_000))
    _desk(shop, 2_000)
    shop.hear(*shop.stage.restore(sale, 3_000))

    assert _money(shop) == (2_000, 1_600, "Pending")


def test_confirmed_refund_comes_back_when_the_gateway_says_so(shop, sale):
    _desk(shop, None)
    shop.hear(*shop.stage.refund(sale, 10_000))
    shop.hear(*shop.stage.restore(sale, 10_000))

    assert _money(shop) == (0, 2_000, "Pending")


def test_lost_dispute_after_the_brands_chargeback_takes_nothing_more_and_winning_gives_it_back(shop, sale):
    refund_by_id(shop.brand, _id(shop), "chargeback")
    shop.hear(*shop.stage.dispute(sale, "opened"), *shop.stage.dispute(sale, "lost"))
    assert _money(shop) == (10_000, 0, "Refunded")
    assert len(shop.told("conversion.refunded")) == 1

    shop.hear(*shop.stage.dispute(sale, "won"))
    assert _money(shop) == (0, 2_000, "Pending")


def test_signed_refund_finds_the_gateways_sale(shop, sale):
    ((event_id,),) = shop.conversions("external_event_id")

    assert shop.brand.refund(event_id, 4_000).json["conversionId"] == str(_id(shop))
    shop.hear(*shop.stage.refund(sale, 4_000))
    assert _money(shop) == (4_000, 1_200, "Pending")


def test_sale_of_disconnected_gateway_is_refunded(shop, sale, admin):
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    ((status,),) = shop.brand.rows("select status from gateway_connection")
    assert status == "Disconnected"

    _desk(shop, 4_000)
    assert _money(shop) == (4_000, 1_200, "Pending")
    assert undo_refund(admin, _id(shop)).status_code == 200


def test_share_of_the_basis_is_compared_and_not_gross_amounts(shop, sale):
    shop.change("update conversion set amount_cents = 7_777")
    shop.change("update affiliate_revenue set net_cents = 7777")
    _desk(shop, 1_000)
    for cents in (1, 1_000, 333, 8_665):
        shop.hear(*shop.stage.refund(sale, cents))
    assert _money(shop) == (7_776, 0, "Pending")
    shop.hear(*shop.stage.refund(sale, 1))
    assert _money(shop) == (7_777, 0, "Refunded")


def test_sale_that_counts_nothing_is_ended_once_by_either(shop, sale, admin):
    shop.change("update conversion set amount_cents = 0")
    shop.change("update affiliate_revenue set net_cents = 0")
    _desk(shop, None)
    shop.hear(*shop.stage.refund(sale, 4_000))
    assert _money(shop) == (0, 0, "Refunded")
    assert undo_refund(admin, _id(shop)).json["commissionCents"] == 2_000

    _desk(shop, None)
    shop.hear(*shop.stage.refund(sale, 6_000))
    assert len(shop.told("conversion.refunded")) == 2
    answer = undo_refund(admin, _id(shop))
    assert (answer.status_code, answer.json["error"]) == (409, "nothing_to_restore")
    shop.hear(*shop.stage.restore(sale, 6_000))
    assert _money(shop) == (0, 2_000, "Pending")


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_both_comes_to_what_the_gateway_says_and_what_it_has_not_reported(shop, sale, admin, seed):
    chosen = random.Random(seed)
    reported = unconfirmed = 0
    for _ in range(14):
        left = 10_000 - reported - unconfirmed
        act = chosen.choice(["desk", "gateway", "gateway", "back", "undo"])
        if act == "desk" and left:
            cents = chosen.randint(1, left)
            _desk(shop, cents)
            unconfirmed += cents
        elif act == "gateway" and reported < 10_000:
            cents = chosen.randint(1, 10_000 - reported)
            shop.hear(*shop.stage.refund(sale, cents))
            reported, unconfirmed = reported + cents, max(unconfirmed - cents, 0)
        elif act == "back" and reported:
            cents = chosen.randint(1, reported)
            shop.wait()
            shop.hear(*shop.stage.restore(sale, cents))
            shop.wait()
            reported -= cents
        elif act == "undo":
            assert undo_refund(admin, _id(shop)).status_code == (200 if unconfirmed else 409)
            unconfirmed = 0
        refunded = reported + unconfirmed
        status = "Refunded" if refunded == 10_000 else "Pending"
        assert _money(shop) == (refunded, 2_000 - round(refunded / 5), status), (act, seed)


@pytest.mark.parametrize("is_unsettled", [True, False])
def test_signed_sale_goes_before_the_gateways_with_the_same_id(shop, is_unsettled):
    purchase = shop.stage.pay(Purchase(cents=10_000))
    shop.hear(*purchase.notifications)
    ((event_id,),) = shop.conversions("external_event_id")
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    signed = shop.brand.sale(affiliateSlug="jane", externalEventId=event_id).json["conversionId"]
    if not is_unsettled:
        shop.brand.get(f"/api/v1/conversions/{signed}")

    assert shop.brand.refund(event_id, 1_000).json["conversionId"] == signed


def test_simultaneous_refund_and_report_of_it_add_up(shop, sale):
    (report,) = shop.stage.refund(sale, 4_000)
    conversion_id = _id(shop)

    run_concurrently(
        lambda: shop.hear(report),
        lambda: refund_by_id(shop.brand, conversion_id, amountCents=4_000),
        lambda: refund_by_id(shop.brand, conversion_id, amountCents=1_000),
    )

    # What the brand booked before the report is confirmed by it, what it booked afterwards is of other money.
    assert _money(shop)[0] in (5_000, 8_000, 9_000)
