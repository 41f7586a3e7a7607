"""Effects of program terms on a sale: renewals of the sale leg, rate, hold (core spec, sections 2 and 3)."""

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


def _sell(brand, drain, *times, **fields):
    """Accept sales of 100 dollars of one customer at the given times, and settle them."""
    for time in times:
        body = {"externalEventId": f"terms-{next(_NUMBERS)}", "affiliateSlug": "ben", "amountCents": 10_000}
        with db.unit_of_work(brand.id):
            acceptance.accept_sale(
                organization_id=brand.id,
                body=SaleBody().load(body | {"customerId": "cus_1"} | fields),
                is_test=False,
                now=datetime.fromisoformat(time),
            )
        drain()


def _list_commissions(brand):
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
def test_sale_leg_pays_renewals_like_a_sale_campaign(brand, drain, *, model, months, delay, earned):
    _with_sale_leg(brand, model, recurring_months=months, recurring_delay_invoices=delay)

    _sell(brand, drain, "2025-01-31T10:00Z", "2025-02-28T09:59:59Z", "2025-02-28T10:00Z", "2025-04-30T10:00Z")

    assert _list_commissions(brand) == [
        (earned[0], "OneTime"),
        (earned[1], "Recurring"),
        (earned[2], "Recurring"),
        (earned[3], "Recurring"),
    ]


def _rate(type, value):
    return {"default_commission_type": type, "default_commission_value": Decimal(value)}


def _custom_rate(type, value):
    return {"custom_commission_type": type, "custom_commission_value": Decimal(value)}


@pytest.mark.parametrize(
    ("program", "affiliate", "expected"),
    [
        (_rate("Percentage", "12.345678"), {}, ("program", "Percentage", Decimal("12.345678"))),
        (_rate("Fixed", "7.5"), {}, ("program", "Fixed", Decimal("7.5"))),
        (_rate("Percentage", "0"), {}, ("program", "Percentage", Decimal(0))),
        (_rate("Percentage", "20"), _custom_rate("Percentage", "33.3"), ("affiliate", "Percentage", Decimal("33.3"))),
        (_rate("Percentage", "20"), _custom_rate("Fixed", "0.000001"), ("affiliate", "Fixed", Decimal("0.000001"))),
        (_rate("Fixed", "7.5"), _custom_rate("Percentage", "0"), ("affiliate", "Percentage", Decimal(0))),
    ],
)
def test_sale_keeps_its_applied_rate(brand, drain, program, affiliate, expected):
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
        expected,
        ("program", "Fixed", Decimal(99)),
    ]


def test_sale_keeps_its_group_or_tier_rate(brand, drain):
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
def test_sale_keeps_its_sale_leg_rate(brand, drain, model):
    _with_sale_leg(brand, model)

    _sell(brand, drain, "2025-01-31T10:00Z")

    assert brand.rows("select rate_source, rate_type, rate_value from conversion") == [
        ("program_sale_leg", "Percentage", Decimal(5))
    ]


def test_unpaid_renewal_keeps_its_rate(brand, drain):
    brand.program(recurring_months=0)
    brand.affiliate("ben")

    _sell(brand, drain, "2025-01-31T10:00Z", "2025-02-28T10:00Z")

    assert brand.rows("select commission_cents, rate_value from conversion order by occurred_at") == [
        (2_000, Decimal(20)),
        (0, Decimal(20)),
    ]


def _list_holds(brand):
    """Return (status, days from the sale until its hold ends) in the order of the sales."""
    return brand.rows(
        "select status, extract(epoch from hold_until - occurred_at)::int / 86400 from conversion order by occurred_at"
    )


@pytest.mark.parametrize(("days", "hold_days"), [("7", 7), ("0", 0), ("90", 90), ("30", 30)])
def test_changed_grace_days_move_holds_of_pending_sales(brand, drain, days, hold_days):
    brand.program()
    brand.affiliate("ben")
    _sell(brand, drain, "2025-01-01T10:00Z", "2025-01-02T10:00Z")

    brand.set(payoutGraceDays=days)

    assert _list_holds(brand) == [("Pending", hold_days), ("Pending", hold_days)]


@pytest.mark.parametrize("status", ["Approved", "Paid", "Refunded", "Denied", "Invalidated"])
def test_changed_grace_days_keep_holds_of_other_sales(brand, drain, status):
    brand.program()
    brand.affiliate("ben")
    _sell(brand, drain, "2025-01-01T10:00Z")
    brand.rows("update conversion set status = %s returning id", status)
    _sell(brand, drain, "2025-01-02T10:00Z")

    brand.set(payoutGraceDays="7")

    assert _list_holds(brand) == [(status, 30), ("Pending", 7)]


def test_changed_grace_days_do_not_affect_other_tenants(brand, rival, drain):
    for tenant in (brand, rival):
        tenant.program()
        tenant.affiliate("ben")
        _sell(tenant, drain, "2025-01-01T10:00Z")

    brand.set(payoutGraceDays="7")

    assert (_list_holds(brand), _list_holds(rival)) == ([("Pending", 7)], [("Pending", 30)])


def test_sale_settled_after_the_change_has_the_new_grace_days(brand, drain):
    brand.program()
    brand.affiliate("ben")
    assert brand.sale(externalEventId="order-a").status_code == 200

    brand.set(payoutGraceDays="7")
    drain()

    assert _list_holds(brand) == [("Pending", 7)]


def test_other_settings_change_no_hold(brand, drain):
    brand.program()
    brand.affiliate("ben")
    _sell(brand, drain, "2025-01-01T10:00Z")
    brand.rows("update conversion set hold_until = occurred_at + interval '3 days' returning id")

    brand.set(plan="Pro")

    assert _list_holds(brand) == [("Pending", 3)]


def test_changed_grace_days_move_the_hold_of_a_partly_refunded_sale(brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a")
    drain()
    assert post_refund(brand, "order-a", 1).status_code == 200

    brand.set(payoutGraceDays="7")

    assert _list_holds(brand) == [("Pending", 7)]
