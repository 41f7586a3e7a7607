"""A brand's own refunds of a gateway's payment, combined with the gateway's reports of the same money.

No amount is reversed twice, and no difference is lost.
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


def _get_conversion_id(shop) -> UUID:
    ((conversion_id,),) = shop.conversions("id")
    return conversion_id


def _read_refund_state(shop):
    return read_refund_state(shop.brand, _get_conversion_id(shop))


def _refund_as_brand(shop, cents):
    response = refund_by_id(shop.brand, _get_conversion_id(shop), **({} if cents is None else {"amountCents": cents}))
    assert response.status_code == 200, response.json
    return response.json


@pytest.mark.parametrize(
    ("brand_cents", "reported", "refunded"),
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
def test_gateway_report_of_brand_refund_reverses_only_the_difference(shop, sale, brand_cents, reported, refunded):
    _refund_as_brand(shop, brand_cents)
    for cents in reported:
        shop.receive(*shop.stage.refund(sale, cents))

    earned = 2_000 - refunded // 5
    assert _read_refund_state(shop) == (refunded, earned, "Refunded" if refunded == 10_000 else "Pending")
    assert sum(event["refundedAmountCents"] for event in shop.list_webhook_data("conversion.refunded")) == refunded


def test_brand_refund_after_gateway_refund_adds_to_it(shop, sale):
    shop.receive(*shop.stage.refund(sale, 4_000))

    assert _refund_as_brand(shop, 4_000)["cumulativeRefundedAmountCents"] == 8_000
    shop.receive(*shop.stage.refund(sale, 4_000))
    assert _read_refund_state(shop) == (8_000, 400, "Pending")
    shop.receive(*shop.stage.refund(sale, 1_000))
    assert _read_refund_state(shop) == (9_000, 200, "Pending")


def test_brand_refund_of_fully_refunded_payment_returns_422(shop, sale):
    shop.receive(*shop.stage.refund(sale, 10_000))

    response = refund_by_id(shop.brand, _get_conversion_id(shop))
    assert (response.status_code, response.json["error"]) == (422, "already_fully_refunded")


def test_undo_restores_only_the_unreported_part(shop, sale, admin):
    _refund_as_brand(shop, 4_000)
    shop.receive(*shop.stage.refund(sale, 3_000))

    assert undo_refund(admin, _get_conversion_id(shop)).json["refundedAmountCents"] == 3_000
    second_undo = undo_refund(admin, _get_conversion_id(shop))
    assert (second_undo.status_code, second_undo.json["error"]) == (409, "nothing_to_restore")
    assert _read_refund_state(shop) == (3_000, 1_400, "Pending")


@pytest.mark.parametrize("cents", [3_000, 10_000])
def test_undo_of_gateways_own_refund_returns_409(shop, sale, admin, cents):
    shop.receive(*shop.stage.refund(sale, cents))

    response = undo_refund(admin, _get_conversion_id(shop))
    assert (response.status_code, response.json["error"]) == (409, "nothing_to_restore")
    assert _read_refund_state(shop)[0] == cents


def test_reversed_gateway_refund_leaves_the_brands_refund(shop, sale):
    shop.receive(*shop.stage.refund(sale, 3_000))
    _refund_as_brand(shop, 2_000)
    shop.receive(*shop.stage.restore(sale, 3_000))

    assert _read_refund_state(shop) == (2_000, 1_600, "Pending")


def test_confirmed_brand_refund_is_restored_by_the_gateway(shop, sale):
    _refund_as_brand(shop, None)
    shop.receive(*shop.stage.refund(sale, 10_000))
    shop.receive(*shop.stage.restore(sale, 10_000))

    assert _read_refund_state(shop) == (0, 2_000, "Pending")


def test_lost_dispute_after_brand_chargeback_counts_once_until_won(shop, sale):
    refund_by_id(shop.brand, _get_conversion_id(shop), "chargeback")
    shop.receive(*shop.stage.dispute(sale, "opened"), *shop.stage.dispute(sale, "lost"))
    assert _read_refund_state(shop) == (10_000, 0, "Refunded")
    assert len(shop.list_webhook_data("conversion.refunded")) == 1

    shop.receive(*shop.stage.dispute(sale, "won"))
    assert _read_refund_state(shop) == (0, 2_000, "Pending")


def test_signed_refund_applies_to_the_gateways_sale(shop, sale):
    ((event_id,),) = shop.conversions("external_event_id")

    assert shop.brand.refund(event_id, 4_000).json["conversionId"] == str(_get_conversion_id(shop))
    shop.receive(*shop.stage.refund(sale, 4_000))
    assert _read_refund_state(shop) == (4_000, 1_200, "Pending")


def test_brand_refunds_sale_of_disconnected_gateway(shop, sale, admin):
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    ((status,),) = shop.brand.rows("select status from gateway_connection")
    assert status == "Disconnected"

    _refund_as_brand(shop, 4_000)
    assert _read_refund_state(shop) == (4_000, 1_200, "Pending")
    assert undo_refund(admin, _get_conversion_id(shop)).status_code == 200


def test_refunds_are_compared_by_share_of_basis_not_gross(shop, sale):
    shop.change("update conversion set amount_cents = 7_777")
    shop.change("update affiliate_revenue set net_cents = 7777")
    _refund_as_brand(shop, 1_000)
    for cents in (1, 1_000, 333, 8_665):
        shop.receive(*shop.stage.refund(sale, cents))
    assert _read_refund_state(shop) == (7_776, 0, "Pending")
    shop.receive(*shop.stage.refund(sale, 1))
    assert _read_refund_state(shop) == (7_777, 0, "Refunded")


def test_zero_amount_sale_is_refunded_once_by_brand_or_gateway(shop, sale, admin):
    shop.change("update conversion set amount_cents = 0")
    shop.change("update affiliate_revenue set net_cents = 0")
    _refund_as_brand(shop, None)
    shop.receive(*shop.stage.refund(sale, 4_000))
    assert _read_refund_state(shop) == (0, 0, "Refunded")
    assert undo_refund(admin, _get_conversion_id(shop)).json["commissionCents"] == 2_000

    _refund_as_brand(shop, None)
    shop.receive(*shop.stage.refund(sale, 6_000))
    assert len(shop.list_webhook_data("conversion.refunded")) == 2
    response = undo_refund(admin, _get_conversion_id(shop))
    assert (response.status_code, response.json["error"]) == (409, "nothing_to_restore")
    shop.receive(*shop.stage.restore(sale, 6_000))
    assert _read_refund_state(shop) == (0, 2_000, "Pending")


@pytest.mark.parametrize("seed", range(6))
def test_random_refunds_total_reported_plus_unreported_cents(shop, sale, admin, seed):
    rng = random.Random(seed)
    reported = unreported = 0
    for _ in range(14):
        remaining_cents = 10_000 - reported - unreported
        action = rng.choice(["brand", "gateway", "gateway", "restore", "undo"])
        if action == "brand" and remaining_cents:
            cents = rng.randint(1, remaining_cents)
            _refund_as_brand(shop, cents)
            unreported += cents
        elif action == "gateway" and reported < 10_000:
            cents = rng.randint(1, 10_000 - reported)
            shop.receive(*shop.stage.refund(sale, cents))
            reported, unreported = reported + cents, max(unreported - cents, 0)
        elif action == "restore" and reported:
            cents = rng.randint(1, reported)
            shop.advance_clock()
            shop.receive(*shop.stage.restore(sale, cents))
            shop.advance_clock()
            reported -= cents
        elif action == "undo":
            assert undo_refund(admin, _get_conversion_id(shop)).status_code == (200 if unreported else 409)
            unreported = 0
        refunded = reported + unreported
        status = "Refunded" if refunded == 10_000 else "Pending"
        assert _read_refund_state(shop) == (refunded, 2_000 - round(refunded / 5), status), (action, seed)


@pytest.mark.parametrize("is_unsettled", [True, False])
def test_signed_sale_precedes_gateway_sale_of_same_id_in_refunds(shop, is_unsettled):
    purchase = shop.stage.pay(Purchase(cents=10_000))
    shop.receive(*purchase.notifications)
    ((event_id,),) = shop.conversions("external_event_id")
    shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    signed_id = shop.brand.sale(affiliateSlug="jane", externalEventId=event_id).json["conversionId"]
    if not is_unsettled:
        shop.brand.get(f"/api/v1/conversions/{signed_id}")

    assert shop.brand.refund(event_id, 1_000).json["conversionId"] == signed_id


def test_concurrent_refund_and_its_report_add_up(shop, sale):
    (report,) = shop.stage.refund(sale, 4_000)
    conversion_id = _get_conversion_id(shop)

    run_concurrently(
        lambda: shop.receive(report),
        lambda: refund_by_id(shop.brand, conversion_id, amountCents=4_000),
        lambda: refund_by_id(shop.brand, conversion_id, amountCents=1_000),
    )

    # The report confirms refunds that the brand booked before it; later ones are additional.
    assert _read_refund_state(shop)[0] in (5_000, 8_000, 9_000)
