"""Refunds that the gateway reverses: the refund and everything derived from it are undone."""

from decimal import Decimal

import pytest

from tests.support.gateways.stage import Purchase

_MONEY = "refunded_cents, reversed_cents, status"


@pytest.fixture
def sale(shop):
    """Return a payment of 10000 of which jane earns 2000."""
    return shop.sell(cents=10_000)


def _list_refunds(shop, columns="place, amount_cents, cumulative_cents, is_restoration"):
    return shop.brand.rows(f"select {columns} from refund order by place")


def test_reversed_refund_is_undone_and_reported_once(shop, sale):
    shop.receive(*shop.stage.refund(sale, 4_000))
    restoration = shop.stage.restore(sale, 4_000)
    shop.receive(*restoration, *restoration)

    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert _list_refunds(shop) == [(1, 4_000, 4_000, False), (2, -4_000, 0, True)]
    assert shop.brand.rows("select kind, amount_cents from ledger_entry order by created_at, amount_cents desc") == [
        ("earn", 2_000),
        ("reverse", -800),
        ("restore", 800),
    ]
    (data,) = shop.list_webhook_data("conversion.adjusted")
    data = {name: data[name] for name in data if not name.endswith("Id")}
    assert data == {
        "amountCents": 10_000,
        "previousAmountCents": 6_000,
        "currency": "USD",
        "commissionCents": 2_000,
        "previousCommissionCents": 1_200,
        "status": "Pending",
        "previousStatus": "Pending",
        "reason": "refund_restored",
        "attributionMethod": "metadata_or_customer",
    }


@pytest.mark.parametrize("status", ["Pending", "Approved"])
def test_restored_conversion_returns_to_its_earlier_status(shop, sale, status):
    shop.change("update conversion set status = %s", status)
    shop.receive(*shop.stage.refund(sale, 10_000))
    assert shop.conversions(f"{_MONEY}, refunded_at is null") == [(10_000, 2_000, "Refunded", False)]

    shop.receive(*shop.stage.restore(sale, 10_000))
    assert shop.conversions(f"{_MONEY}, refunded_at is null") == [(0, 0, status, True)]
    assert [(data["previousStatus"], data["status"]) for data in shop.list_webhook_data("conversion.adjusted")] == [
        ("Refunded", status)
    ]


def test_refunds_after_a_restoration_count_to_the_same_totals(shop, sale):
    for _ in range(2):
        shop.receive(*shop.stage.refund(sale, 4_000))
        shop.receive(*shop.stage.refund(sale, 6_000))
        assert shop.conversions(_MONEY) == [(10_000, 2_000, "Refunded")]
        shop.receive(*shop.stage.restore(sale, 6_000))
        assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
        shop.receive(*shop.stage.restore(sale, 4_000))
    shop.receive(*shop.stage.refund(sale, 1_000))
    assert shop.conversions(_MONEY) == [(1_000, 200, "Pending")]
    assert [total for (total,) in _list_refunds(shop, "cumulative_cents")] == [*[4_000, 10_000, 4_000, 0] * 2, 1_000]


def test_refund_delivered_after_its_restoration_changes_nothing(shop, sale):
    late = shop.stage.refund(sale, 4_000)
    shop.advance_clock()
    shop.receive(*shop.stage.restore(sale, 4_000))
    assert shop.events()[-1] == ("refund.failed", "Processed", "known")
    shop.receive(*late)
    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]

    shop.advance_clock()
    shop.receive(*shop.stage.refund(sale, 1_500))
    assert shop.conversions(_MONEY) == [(1_500, 300, "Pending")]


def test_restoration_waits_for_its_payment(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    refund = shop.stage.refund(sale, 4_000)
    shop.advance_clock()
    shop.receive(*shop.stage.restore(sale, 4_000), *refund)
    assert {row[1:] for row in shop.events()} == {("Parked", "payment_unknown")}
    shop.receive(*sale.notifications)
    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_lost_dispute_won_later_restores_its_amount(shop, sale):
    shop.receive(*shop.stage.refund(sale, 4_000))
    shop.receive(*shop.stage.dispute(sale, "lost"))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, "Refunded")]

    shop.advance_clock()
    won = shop.stage.dispute(sale, "won")
    shop.receive(*won, *won)
    assert shop.conversions(f"{_MONEY}, disputed_at") == [(4_000, 800, "Pending", None)]


def test_won_dispute_ignores_an_older_lost_event(shop, sale):
    lost = shop.stage.dispute(sale, "lost")
    shop.advance_clock()
    shop.receive(*shop.stage.dispute(sale, "won"))
    shop.receive(*lost)
    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert shop.events()[-1] == ("charge.dispute.closed", "Processed", "known")

    shop.advance_clock()
    shop.receive(*shop.stage.dispute(sale, "lost"))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, "Refunded")]


def test_restoration_of_invalidated_conversion_counts_once_it_is_validated(shop, sale):
    shop.receive(*shop.stage.refund(sale, 4_000))
    ((conversion_id,),) = shop.conversions("id")
    path, owner = f"/api/v1/conversions/{conversion_id}", shop.brand.person("Owner")
    assert owner.post(f"{path}/invalidate", {"reason": "looks odd"}).status_code == 200
    shop.receive(*shop.stage.refund(sale, 2_000))
    shop.receive(*shop.stage.restore(sale, 5_000))
    assert shop.conversions(_MONEY) == [(1_000, 800, "Invalidated")]

    assert owner.post(f"{path}/validate").status_code == 200
    assert shop.conversions(_MONEY) == [(1_000, 200, "Pending")]


def test_override_follows_refunds_and_restorations(shop):
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(10))
    sale = shop.sell(cents=10_000)
    override = "select reversed_cents, status from conversion where parent_id is not null"
    shop.receive(*shop.stage.refund(sale, 10_000))
    assert shop.brand.rows(override) == [(200, "Refunded")]
    shop.receive(*shop.stage.restore(sale, 6_000))
    assert shop.brand.rows(override) == [(80, "Pending")]

    shop.change("update conversion set status = 'Paid', paid_cents = 120 where parent_id is not null")
    shop.receive(*shop.stage.refund(sale, 6_000))
    assert shop.brand.rows(override) == [(80, "Paid")]
    shop.receive(*shop.stage.restore(sale, 10_000))
    assert shop.brand.rows(override) == [(0, "Approved")]
    assert (
        len([data for data in shop.list_webhook_data("conversion.adjusted") if "parentAffiliateConversionId" in data])
        == 2
    )
    shop.change("update conversion set status = 'Pending', paid_cents = 0 where parent_id is not null")


def test_override_booked_after_refund_and_restoration_is_whole(shop, drain):
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(10))
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.deliver(*sale.notifications)
    drain("gateways")
    shop.deliver(*shop.stage.refund(sale, 4_000))
    drain("gateways")
    shop.deliver(*shop.stage.restore(sale, 4_000))
    drain("gateways")
    assert shop.brand.rows("select from conversion where parent_id is not null") == []

    drain()
    assert shop.brand.rows("select reversed_cents, status from conversion where parent_id is not null") == [
        (0, "Pending")
    ]
    assert shop.brand.rows("select count(*) from reversal") == [(4,)]
