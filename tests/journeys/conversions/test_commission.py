"""Commission of a signed sale: rate and currency (tracking spec, section 2; core spec, section 2)."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from domain.programs import terms
from models import db, ids
from models.programs import partner_groups, performance_tiers
from tests.support.rows.program_rows import store_rate
from tests.support.rows.refund_requests import post_refund

MAX_CENTS = 1_000_000_000_000


def _percentage_rate(value):
    return {"default_commission_type": "Percentage", "default_commission_value": Decimal(value)}


def _fixed_rate(value):
    return {"default_commission_type": "Fixed", "default_commission_value": Decimal(value)}


def _group(brand, value, type="Percentage"):
    group_id = ids.new_id()
    with db.unit_of_work(brand.id):
        partner_groups.insert(
            {
                "id": group_id,
                "organization_id": brand.id,
                "program_id": brand.programs[-1],
                "name": "Partners",
                "commission_type": type,
                "commission_value": Decimal(value),
                "commission_currency": terms.rate_currency(type, "USD"),
            }
        )
    return group_id


def _tiers(brand, *tiers, currency="USD"):
    program_tiers = [
        performance_tiers.ProgramTier(min_revenue_cents, type, Decimal(value), currency)
        for min_revenue_cents, type, value in tiers
    ]
    with db.unit_of_work(brand.id):
        performance_tiers.stage_replacement(
            organization_id=brand.id, program_id=brand.programs[-1], tiers=program_tiers
        )


def _list_commissions(brand):
    """Return commissions in the order of the sales."""
    return [cents for (cents,) in brand.rows("select commission_cents from conversion order by occurred_at, id")]


def _sell(brand, drain, *amounts, **fields):
    for amount in amounts:
        assert brand.sale(amountCents=amount, **fields).status_code == 200
        drain()


@pytest.mark.parametrize(
    ("custom", "group", "tier", "default", "earned", "source"),
    [
        (None, None, None, "20", 2_000, "program"),
        (None, None, "15", "20", 1_500, "tier"),
        (None, "10", "15", "20", 1_000, "group"),
        (None, "10", None, "20", 1_000, "group"),
        ("5", "10", "15", "20", 500, "affiliate"),
        ("5", None, None, "20", 500, "affiliate"),
        ("50", "10", "15", "20", 5_000, "affiliate"),
        ("0", "10", "15", "20", 0, "affiliate"),
        (None, "0", "15", "20", 0, "group"),
        (None, None, "0", "20", 0, "tier"),
        (None, None, None, "0", 0, "program"),
    ],
)
def test_most_specific_rate_applies_even_if_zero(brand, drain, *, custom, group, tier, default, earned, source):
    brand.program(**_percentage_rate(default))
    columns = {}
    if custom is not None:
        columns |= {"custom_commission_type": "Percentage", "custom_commission_value": Decimal(custom)}
    if group is not None:
        columns |= {"partner_group_id": _group(brand, group)}
    if tier is not None:
        _tiers(brand, (0, "Percentage", tier))
    brand.affiliate("ben", **columns)

    _sell(brand, drain, 10_000)

    assert brand.rows("select commission_cents, rate_source, rate_type from conversion") == [
        (earned, source, "Percentage")
    ]
    assert brand.rows("select sum(amount_cents)::int from ledger_entry") == [(earned or None,)]


def test_affiliates_fixed_rate_precedes_the_programs_percentage(brand, drain):
    brand.program(**_percentage_rate(20))
    brand.affiliate("ben", custom_commission_type="Fixed", custom_commission_value=Decimal("7.5"))
    brand.affiliate("zoe")

    _sell(brand, drain, 10_000, affiliateSlug="ben")
    _sell(brand, drain, 10_000, affiliateSlug="zoe")

    assert _list_commissions(brand) == [750, 2_000]


def test_terms_at_settlement_apply_and_stay(brand, drain):
    brand.program(**_percentage_rate(20))
    brand.affiliate("ben")
    _sell(brand, drain, 10_000)
    with db.unit_of_work(brand.id):
        db.db.run("update program set default_commission_value = 5")

    _sell(brand, drain, 10_000)

    assert _list_commissions(brand) == [2_000, 500]


def test_tier_counts_revenue_before_the_sale_only(brand, drain):
    brand.program(**_percentage_rate(10))
    _tiers(brand, (10_000, "Percentage", 20), (30_000, "Percentage", 30), (50_000, "Fixed", 1))
    brand.affiliate("ben")
    brand.affiliate("zoe")

    _sell(brand, drain, 9_999, 1, 20_000, 20_000, 10_000)
    _sell(brand, drain, 10_000, affiliateSlug="zoe")

    #        0 <  9,999 < 10,000 (20 %)  30,000 (30 %)  50,000 (fixed)
    assert _list_commissions(brand) == [1_000, 0, 4_000, 6_000, 100, 1_000]


def test_refund_reduces_tier_revenue(brand, drain):
    brand.program(**_percentage_rate(10))
    _tiers(brand, (10_000, "Percentage", 20))
    brand.affiliate("ben")

    _sell(brand, drain, 10_000, externalEventId="order-a")
    post_refund(brand, "order-a", 1)
    _sell(brand, drain, 10_000, externalEventId="order-b")
    _sell(brand, drain, 10_000, externalEventId="order-c")

    assert _list_commissions(brand) == [1_000, 1_000, 2_000]


def test_tier_revenue_is_in_home_currency(brand, drain):
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into fx_rate (currency, published_on, per_usd) values ('MWK', %s, 1750), ('RWF', %s, 20000)"
            " on conflict do nothing",
            (date(2020, 1, 1), date(2020, 1, 1)),
        )
    brand.program(**_percentage_rate(10))
    _tiers(brand, (10_000, "Percentage", 20))
    brand.affiliate("ben")

    _sell(brand, drain, 175_000 * 50, currency="MWK")  # 50 dollars
    _sell(brand, drain, 20_000 * 49, currency="RWF")  # 49 dollars
    _sell(brand, drain, 100)  # one more; now a hundred
    _sell(brand, drain, 1_000)

    assert _list_commissions(brand)[-2:] == [10, 200]


@pytest.mark.parametrize(
    ("home", "per_usd", "reached"),
    [("LSL", "20", 20), ("UGX", "3700", 20), ("SZL", None, 10)],
    ids=["a rate", "a home without decimals", "no rate"],
)
def test_tier_of_a_former_home_currency_keeps_its_threshold(brand, drain, home, per_usd, reached):
    if per_usd is not None:
        store_rate(home, per_usd, datetime(2020, 1, 1, tzinfo=UTC))
    brand.program(**_percentage_rate(10))
    _tiers(brand, (10_000, "Percentage", 20))
    brand.affiliate("ben")
    brand.set(currency=home)

    _sell(brand, drain, 9_999)
    _sell(brand, drain, 1)
    _sell(brand, drain, 1_000)
    _sell(brand, drain, 10**12, currency=home)
    _sell(brand, drain, 1_000)

    # Without an exchange rate neither the revenue nor the threshold is known, and the tier never applies.
    assert _list_commissions(brand) == [1_000, 0, 10 * reached, 10**10 * reached, 10 * reached]


def test_tier_threshold_is_not_rounded_down(brand, drain):
    store_rate("NAD", "0.8", datetime(2020, 1, 1, tzinfo=UTC))
    brand.program(**_percentage_rate(10))
    _tiers(brand, (3, "Percentage", 20))  # 2.4 cents of a NAD, which would round to 2
    brand.affiliate("ben")
    brand.set(currency="NAD")

    _sell(brand, drain, 2, currency="NAD")
    _sell(brand, drain, 1_000, currency="NAD")
    _sell(brand, drain, 1_000, currency="NAD")

    assert _list_commissions(brand) == [0, 100, 200]


def test_test_revenue_does_not_count_for_tiers(brand, drain):
    brand.program(**_percentage_rate(10))
    _tiers(brand, (10_000, "Percentage", 20))
    brand.affiliate("ben")

    _sell(brand.other_key(is_test=True), drain, 10_000)
    _sell(brand, drain, 10_000)

    assert _list_commissions(brand) == [1_000, 1_000]
    assert brand.rows("select is_test from conversion order by occurred_at") == [(True,), (False,)]


@pytest.mark.parametrize(
    ("value", "currency", "earned"),
    [
        ("5", "USD", 500),
        ("5", "EUR", 500),
        ("5", "MGA", 500),
        ("5", "JPY", 5),
        ("5", "KRW", 5),
        ("5", "ISK", 5),
        ("5", "XAF", 5),
        ("5", "KWD", 5_000),
        ("5", "BHD", 5_000),
        ("5", "TND", 5_000),
        ("2.5", "JPY", 2),
        ("3.5", "JPY", 4),
        ("0.5", "JPY", 0),
        ("0.005", "USD", 0),
        ("0.015", "USD", 2),
        ("0.0005", "KWD", 0),
        ("0.0015", "KWD", 2),
        ("0.001", "KWD", 1),
        ("1000000", "USD", 100_000_000),
        ("0", "USD", 0),
    ],
)
def test_fixed_rate_is_in_major_units_of_the_sales_currency(brand, drain, value, currency, earned):
    brand.program(**_fixed_rate(value))
    brand.affiliate("ben")

    _sell(brand, drain, 100, currency=currency)

    assert brand.rows("select commission_cents, currency, amount_cents from conversion") == [(earned, currency, 100)]
    assert brand.rows("select amount_cents, currency from ledger_entry") == ([(earned, currency)] if earned else [])


@pytest.mark.parametrize(
    ("percent", "amount", "currency", "earned"),
    [
        ("2.5", 100, "USD", 2),
        ("3.5", 100, "USD", 4),
        ("12.5", 4, "USD", 0),
        ("12.5", 12, "USD", 2),
        ("33.333333", 3, "USD", 1),
        ("10", 4_999, "USD", 500),
        ("10", 4_995, "USD", 500),
        ("10", 4_985, "USD", 498),
        ("0.000001", MAX_CENTS, "USD", 10_000),
        ("99.999999", MAX_CENTS, "USD", 999_999_990_000),
        ("100", MAX_CENTS, "KWD", MAX_CENTS),
        ("100", 1, "JPY", 1),
        ("50", 1, "JPY", 0),
        ("50", 3, "JPY", 2),
    ],
)
def test_percentage_is_rounded_once_half_even(brand, drain, *, percent, amount, currency, earned):
    brand.program(**_percentage_rate(percent))
    brand.affiliate("ben")

    _sell(brand, drain, amount, currency=currency)

    assert _list_commissions(brand) == [earned]


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
@pytest.mark.parametrize(
    ("type", "value", "currency", "earned"),
    [("Percentage", "5", "USD", 500), ("Fixed", "3", "JPY", 3), ("Fixed", "3", "KWD", 3_000)],
)
def test_sale_leg_ignores_partner_rates(brand, drain, *, model, type, value, currency, earned):
    brand.program(
        **_fixed_rate(2),
        default_commission_model=model,
        sale_commission_type=type,
        sale_commission_value=Decimal(value),
    )
    _tiers(brand, (0, "Percentage", 30))
    brand.affiliate(
        "ben",
        custom_commission_type="Fixed",
        custom_commission_value=Decimal(50),
        partner_group_id=_group(brand, 40),
    )

    _sell(brand, drain, 10_000, currency=currency)

    assert _list_commissions(brand) == [earned]


def test_sale_campaign_ignores_the_sale_leg(brand, drain):
    brand.program(**_percentage_rate(20), sale_commission_type="Percentage", sale_commission_value=Decimal(5))
    brand.affiliate("ben")

    _sell(brand, drain, 10_000)

    assert _list_commissions(brand) == [2_000]


@pytest.mark.parametrize("days", [0, 14, 30, 90])
def test_sale_is_held_for_the_grace_days(brand, drain, days):
    brand.set(payoutGraceDays=str(days))
    brand.program()
    brand.affiliate("ben")

    _sell(brand, drain, 10_000)

    assert brand.rows(
        "select c.status, extract(epoch from c.hold_until - s.accepted_at)::int / 86400, c.occurred_at = s.accepted_at"
        " from conversion c join sale s on s.id = c.id"
    ) == [("Pending", days, True)]


def test_sale_is_held_for_thirty_days_by_default(brand, drain):
    brand.program()
    brand.affiliate("ben")

    _sell(brand, drain, 10_000)

    assert brand.rows("select (hold_until - occurred_at)::text from conversion") == [("30 days",)]


def test_repeated_settlement_changes_nothing(brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale(customerId="cus_1")

    drain(deliveries=3)

    for table in ("conversion", "ledger_entry", "conversion_event", "event"):
        assert brand.rows(f"select count(*) from {table}") == [(1,)], table
    assert brand.rows("select payments from program_customer") == [(1,)]
