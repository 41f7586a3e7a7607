"""Refunded money that comes back: that refund is undone, and everything that hangs on it with it."""

from decimal import Decimal

import pytest

from tests.support.gateways.stage import Purchase

_MONEY = "refunded_cents, reversed_cents, status"


@pytest.fixture
def sale(shop):
    """Return a payment of 10000 of which jane earns 2000."""
    return shop.sell(cents=10_000)


def _refunds(shop, columns="place, amount_cents, cumulative_cents, is_restoration"):
    return shop.brand.rows(f"select {columns} from refund order by place")


def test_a_refund_whose_money_came_back_is_undone_and_told_once(shop, sale):
    shop.hear(*shop.stage.refund(sale, 4_000))
    back = shop.stage.restore(sale, 4_000)
    shop.hear(*back, *back)

    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert _refunds(shop) == [(1, 4_000, 4_000, False), (2, -4_000, 0, True)]
    assert shop.brand.rows("select kind, amount_cents from ledger_entry order by created_at, amount_cents desc") == [
        ("earn", 2_000),
        ("reverse", -800),
        ("restore", 800),
    ]
    (told,) = shop.told("conversion.adjusted")
    told = {name: told[name] for name in told if not name.endswith("Id")}
    assert told == {
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


@pytest.mark.parametrize("before", ["Pending", "Approved"])
def test_the_status_is_as_before_the_refund_that_ended_it(shop, sale, before):
    shop.change("update conversion set status = %s", before)
    shop.hear(*shop.stage.refund(sale, 10_000))
    assert shop.conversions(f"{_MONEY}, refunded_at is null") == [(10_000, 2_000, "Refunded", False)]

    shop.hear(*shop.stage.restore(sale, 10_000))
    assert shop.conversions(f"{_MONEY}, refunded_at is null") == [(0, 0, before, True)]
    assert [(told["previousStatus"], told["status"]) for told in shop.told("conversion.adjusted")] == [
        ("Refunded", before)
    ]


def test_refunds_after_a_restoration_count_again_to_the_same_totals(shop, sale):
    for _ in range(2):
        shop.hear(*shop.stage.refund(sale, 4_000))
        shop.hear(*shop.stage.refund(sale, 6_000))
        assert shop.conversions(_MONEY) == [(10_000, 2_000, "Refunded")]
        shop.hear(*shop.stage.restore(sale, 6_000))
        assert shop.conversions(_MONEY) == [(4_000, 800, "Pending")]
        shop.hear(*shop.stage.restore(sale, 4_000))
    shop.hear(*shop.stage.refund(sale, 1_000))
    assert shop.conversions(_MONEY) == [(1_000, 200, "Pending")]
    assert [total for (total,) in _refunds(shop, "cumulative_cents")] == [*[4_000, 10_000, 4_000, 0] * 2, 1_000]


def test_a_refund_that_is_told_after_its_money_came_back_changes_nothing(shop, sale):
    late = shop.stage.refund(sale, 4_000)
    shop.wait()
    shop.hear(*shop.stage.restore(sale, 4_000))
    assert shop.events()[-1] == ("refund.failed", "Processed", "known")
    shop.hear(*late)
    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]

    shop.wait()
    shop.hear(*shop.stage.refund(sale, 1_500))
    assert shop.conversions(_MONEY) == [(1_500, 300, "Pending")]


def test_a_restoration_waits_for_its_payment(shop):
    sale = shop.stage.pay(Purchase(cents=10_000))
    refund = shop.stage.refund(sale, 4_000)
    shop.wait()
    shop.hear(*shop.stage.restore(sale, 4_000), *refund)
    assert {row[1:] for row in shop.events()} == {("Parked", "payment_unknown")}
    shop.hear(*sale.notifications)
    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_a_lost_dispute_that_is_won_later_gives_back_what_it_took(shop, sale):
    shop.hear(*shop.stage.refund(sale, 4_000))
    shop.hear(*shop.stage.dispute(sale, "lost"))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, "Refunded")]

    shop.wait()
    won = shop.stage.dispute(sale, "won")
    shop.hear(*won, *won)
    assert shop.conversions(f"{_MONEY}, disputed_at") == [(4_000, 800, "Pending", None)]


def test_a_dispute_that_was_won_is_not_lost_by_what_comes_late(shop, sale):
    lost = shop.stage.dispute(sale, "lost")
    shop.wait()
    shop.hear(*shop.stage.dispute(sale, "won"))
    shop.hear(*lost)
    assert shop.conversions(_MONEY) == [(0, 0, "Pending")]
    assert shop.events()[-1] == ("charge.dispute.closed", "Processed", "known")

    shop.wait()
    shop.hear(*shop.stage.dispute(sale, "lost"))
    assert shop.conversions(_MONEY) == [(10_000, 2_000, "Refunded")]


def test_what_a_denied_conversion_got_back_counts_when_it_earns_again(shop, sale):
    shop.hear(*shop.stage.refund(sale, 4_000))
    ((conversion_id,),) = shop.conversions("id")
    path, owner = f"/api/v1/conversions/{conversion_id}", shop.brand.person("Owner")
    assert owner.post(f"{path}/invalidate", {"reason": "looks odd"}).status_code == 200
    shop.hear(*shop.stage.refund(sale, 2_000))
    shop.hear(*shop.stage.restore(sale, 5_000))
    assert shop.conversions(_MONEY) == [(1_000, 800, "Invalidated")]

    assert owner.post(f"{path}/validate").status_code == 200
    assert shop.conversions(_MONEY) == [(1_000, 200, "Pending")]


def test_the_override_follows_in_both_directions(shop):
    recruiter = shop.brand.affiliate("rita")
    shop.change("update affiliate set recruited_by_affiliate_id = %s where id <> %s", recruiter, recruiter)
    shop.change("update program set sub_affiliate_enabled = true, sub_affiliate_percent = %s", Decimal(10))
    sale = shop.sell(cents=10_000)
    override = "select reversed_cents, status from conversion where parent_id is not null"
    shop.hear(*shop.stage.refund(sale, 10_000))
    assert shop.brand.rows(override) == [(200, "Refunded")]
    shop.hear(*shop.stage.restore(sale, 6_000))
    assert shop.brand.rows(override) == [(80, "Pending")]

    shop.change("update conversion set status = 'Paid', paid_cents = 120 where parent_id is not null")
    shop.hear(*shop.stage.refund(sale, 6_000))
    assert shop.brand.rows(override) == [(80, "Paid")]
    shop.hear(*shop.stage.restore(sale, 10_000))
    assert shop.brand.rows(override) == [(0, "Approved")]
    assert len([told for told in shop.told("conversion.adjusted") if "parentAffiliateConversionId" in told]) == 2
    shop.change("update conversion set status = 'Pending', paid_cents = 0 where parent_id is not null")


def test_an_override_that_is_written_after_it_all_is_whole(shop, drain):
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
