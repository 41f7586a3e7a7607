"""What the terms leave on a sale: renewals of the sale leg, the rate, the hold (core spec, sections 2 and 3)."""

import itertools
from datetime import datetime
from decimal import Decimal

import pytest

from models import db, ids
from models.programs import partner_groups, performance_tiers
from pipelines.conversions import acceptance
from schemas.conversions.sale import SaleBody
from tests.support.rows.refund_requests import post_refund

_NUMBERS = itertools.count(1)


def _sell(brand, drain, *moments, **fields):
    """Accept sales of 100 dollars of one customer as they would have been accepted at those times, and settle them."""
    for moment in moments:
        body = {"externalEventId": f"terms-{next(_NUMBERS)}", "affiliateSlug": "ben", "amountCents": 10_000}
        with db.unit_of_work(brand.id):
            acceptance.accept_sale(
                organization_id=brand.id,
                body=SaleBody().load(body | {"customerId": "cus_1"} | fields),
                is_test=False,
                now=datetime.fromisoformat(moment),
            )
        drain()


def _earned(brand):
    return brand.rows("select commission_cents, type from conversion order by occurred_at, id")


def _with_sale_leg(brand, model, **columns):
    brand.program(
        default_commission_type="Fixed",
        default_commission_value=Decimal(2),
        default_commission_model=model,
        sale_commission_type="Percentage",
        sale_commission_value=Decimal(5),
        **columns,
    )
    brand.affiliate("ben")


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
@pytest.mark.parametrize(
    ("months", "delay", "earned"),
    [
        (None, 0, [500, 500, 500, 500]),
        (0, 0, [500, 0, 0, 0]),
        (1, 0, [500, 500, 0, 0]),
        (3, 0, [500, 500, 500, 0]),
        (None, 1, [0, 500, 500, 500]),
        (None, 3, [0, 0, 0, 500]),
        (3, 1, [0, 500, 500, 0]),
        (0, 1, [0, 0, 0, 0]),
    ],
)
def test_the_sale_leg_pays_renewals_as_a_sale_campaign_does(brand, drain, *, model, months, delay, earned):
    _with_sale_leg(brand, model, recurring_months=months, recurring_delay_invoices=delay)

    _sell(brand, drain, "2025-01-31T10:00Z", "2025-02-28T09:59:59Z", "2025-02-28T10:00Z", "2025-04-30T10:00Z")

    assert _earned(brand) == [
        (earned[0], "OneTime"),
        (earned[1], "Recurring"),
        (earned[2], "Recurring"),
        (earned[3], "Recurring"),
    ]


def _rate(type, value):
    return {"default_commission_type": type, "default_commission_value": Decimal(value)}


def _own(type, value):
    return {"custom_commission_type": type, "custom_commission_value": Decimal(value)}


@pytest.mark.parametrize(
    ("program", "affiliate", "kept"),
    [
        (_rate("Percentage", "12.345678"), {}, ("program", "Percentage", Decimal("12.345678"))),
        (_rate("Fixed", "7.5"), {}, ("program", "Fixed", Decimal("7.5"))),
        (_rate("Percentage", "0"), {}, ("program", "Percentage", Decimal(0))),
        (_rate("Percentage", "20"), _own("Percentage", "33.3"), ("affiliate", "Percentage", Decimal("33.3"))),
        (_rate("Percentage", "20"), _own("Fixed", "0.000001"), ("affiliate", "Fixed", Decimal("0.000001"))),
        (_rate("Fixed", "7.5"), _own("Percentage", "0"), ("affiliate", "Percentage", Decimal(0))),
    ],
)
def test_a_sale_keeps_the_value_of_the_rate_that_was_applied(brand, drain, program, affiliate, kept):
    brand.program(**program)
    brand.affiliate("ben", **affiliate)
    _sell(brand, drain, "2025-01-31T10:00Z")
    brand.rows("update program set default_commission_type = 'Fixed', default_commission_value = 99 returning id")
    brand.rows(
        "update affiliate set custom_commission_type = null, custom_commission_value = null,"
        " custom_commission_currency = null returning id"
    )

    _sell(brand, drain, "2025-02-28T10:00Z")

    assert brand.rows("select rate_source, rate_type, rate_value from conversion order by occurred_at") == [
        kept,
        ("program", "Fixed", Decimal(99)),
    ]


def test_a_sale_keeps_the_value_of_its_groups_and_of_its_tiers_rate(brand, drain):
    program_id, group_id = brand.program(), ids.new_id()
    with db.unit_of_work(brand.id):
        partner_groups.insert(
            {
                "id": group_id,
                "organization_id": brand.id,
                "program_id": program_id,
                "name": "Partners",
                "commission_type": "Percentage",
                "commission_value": Decimal("17.5"),
            }
        )
        tier = performance_tiers.ProgramTier(10_000, "Percentage", Decimal("22.25"), "USD")
        performance_tiers.stage_replacement(organization_id=brand.id, program_id=program_id, tiers=[tier])
    brand.affiliate("ben")
    brand.affiliate("zoe", partner_group_id=group_id)

    _sell(brand, drain, "2025-01-01T00:00Z", "2025-01-02T00:00Z")
    _sell(brand, drain, "2025-01-03T00:00Z", affiliateSlug="zoe")

    assert brand.rows("select rate_source, rate_value from conversion order by occurred_at") == [
        ("program", Decimal(20)),
        ("tier", Decimal("22.25")),
        ("group", Decimal("17.5")),
    ]


@pytest.mark.parametrize("model", ["Cpc", "Cpl"])
def test_a_sale_keeps_the_value_of_the_sale_leg(brand, drain, model):
    _with_sale_leg(brand, model)

    _sell(brand, drain, "2025-01-31T10:00Z")

    assert brand.rows("select rate_source, rate_type, rate_value from conversion") == [
        ("program_sale_leg", "Percentage", Decimal(5))
    ]


def test_a_payment_that_earns_nothing_keeps_the_rate_too(brand, drain):
    brand.program(recurring_months=0)
    brand.affiliate("ben")

    _sell(brand, drain, "2025-01-31T10:00Z", "2025-02-28T10:00Z")

    assert brand.rows("select commission_cents, rate_value from conversion order by occurred_at") == [
        (2_000, Decimal(20)),
        (0, Decimal(20)),
    ]


def _held(brand):
    """(status, days from the sale's own time until it is free) in the order of the sales."""
    return brand.rows(
        "select status, extract(epoch from hold_until - occurred_at)::int / 86400 from conversion order by occurred_at"
    )


@pytest.mark.parametrize(("days", "held"), [("7", 7), ("0", 0), ("90", 90), ("30", 30)])
def test_pending_sales_are_held_anew_when_the_days_of_grace_change(brand, drain, days, held):
    brand.program()
    brand.affiliate("ben")
    _sell(brand, drain, "2025-01-01T10:00Z", "2025-01-02T10:00Z")

    brand.set(payoutGraceDays=days)

    assert _held(brand) == [("Pending", held), ("Pending", held)]


@pytest.mark.parametrize("status", ["Approved", "Paid", "Refunded", "Denied", "Invalidated"])
def test_a_sale_that_is_not_pending_keeps_its_hold_when_the_days_of_grace_change(brand, drain, status):
    brand.program()
    brand.affiliate("ben")
    _sell(brand, drain, "2025-01-01T10:00Z")
    brand.rows("update conversion set status = %s returning id", status)
    _sell(brand, drain, "2025-01-02T10:00Z")

    brand.set(payoutGraceDays="7")

    assert _held(brand) == [(status, 30), ("Pending", 7)]


def test_the_days_of_grace_of_one_brand_hold_nothing_of_another(brand, rival, drain):
    for each in (brand, rival):
        each.program()
        each.affiliate("ben")
        _sell(each, drain, "2025-01-01T10:00Z")

    brand.set(payoutGraceDays="7")

    assert (_held(brand), _held(rival)) == ([("Pending", 7)], [("Pending", 30)])


def test_a_sale_that_is_settled_after_the_change_has_the_new_days(brand, drain):
    brand.program()
    brand.affiliate("ben")
    assert brand.sale(externalEventId="order-a").status_code == 200

    brand.set(payoutGraceDays="7")
    drain()

    assert _held(brand) == [("Pending", 7)]


def test_another_setting_holds_nothing_anew(brand, drain):
    brand.program()
    brand.affiliate("ben")
    _sell(brand, drain, "2025-01-01T10:00Z")
    brand.rows("update conversion set hold_until = occurred_at + interval '3 days' returning id")

    brand.set(plan="Pro")

    assert _held(brand) == [("Pending", 3)]


def test_a_partly_refunded_sale_is_pending_and_held_anew(brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a")
    drain()
    assert post_refund(brand, "order-a", 1).status_code == 200

    brand.set(payoutGraceDays="7")

    assert _held(brand) == [("Pending", 7)]
