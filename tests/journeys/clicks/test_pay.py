"""Earnings of an hour's clicks as one conversion, limited by a budget. Source: core spec, "Program"."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.support.rows import program_rows
from tests.support.rows.click_rows import (
    build_click,
    list_aggregates,
    list_event_data,
    list_outcomes,
    minutes_after_hour,
    sum_ledger,
    write,
    write_on_own_connection,
)
from tests.support.rows.payroll import Payroll


def test_clicks_of_an_hour_are_one_conversion(click_brand, ben):
    write(click_brand, *[build_click(click_brand, ben, at=minutes_after_hour(n)) for n in range(5)])

    (conversion,) = click_brand.get("/api/v1/conversions?kind=click").json["items"]
    assert conversion["externalEventId"] == f"cpc:{click_brand.programs[-1]}:{ben}:2026030112"
    assert {name: conversion[name] for name in ("amountCents", "commissionCents", "currency", "status", "type")} == {
        "amountCents": 0, "commissionCents": 50, "currency": "USD", "status": "Pending", "type": "ClickReward",
    }  # fmt: skip
    assert (conversion["attributionMethod"], conversion["payability"]) == ("cpc_aggregation", "payable")
    assert click_brand.rows("select distinct conversion_id::text from click") == [(conversion["id"],)]


def test_hours_tags_and_affiliates_get_separate_conversions(click_brand, ben):
    ann = click_brand.affiliate("ann")
    program_id = click_brand.programs[-1]
    batch = [
        build_click(click_brand, ben, at=minutes_after_hour(0)),
        build_click(click_brand, ben, at=minutes_after_hour(60)),
        build_click(click_brand, ben, sub_id="mail", at=minutes_after_hour(1)),
        build_click(click_brand, ann, slug="ann", at=minutes_after_hour(2)),
    ]

    write(click_brand, *batch)

    ids = [(f"cpc:{program_id}:{ben}:2026030112", 10), (f"cpc:{program_id}:{ben}:2026030113", 10)]
    ids += [(f"cpc:{program_id}:{ben}:2026030112:mail", 10), (f"cpc:{program_id}:{ann}:2026030112", 10)]
    assert [(name, cents) for name, cents, *_ in list_aggregates(click_brand)] == sorted(ids)
    assert click_brand.rows("select sub_id from conversion where sub_id is not null") == [("mail",)]


def test_later_batches_increase_the_hours_conversion(click_brand, ben):
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(0)))
    write(click_brand, *[build_click(click_brand, ben, at=minutes_after_hour(n)) for n in (1, 2)])
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(3)))

    assert [row[1] for row in list_aggregates(click_brand)] == [40]
    assert sum_ledger(click_brand) == [("earn", 40, 3)]
    assert click_brand.rows("select event_type, commission_cents from conversion_event") != []
    assert click_brand.rows("select sum(commission_cents)::int, count(*) from conversion_event") == [(40, 3)]


def test_creation_and_each_increase_are_reported_once(click_brand, ben):
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(0)))
    write(click_brand, *[build_click(click_brand, ben, at=minutes_after_hour(n)) for n in (1, 2)])

    (created,), (adjusted,) = (
        list_event_data(click_brand, "conversion.created"),
        list_event_data(click_brand, "conversion.adjusted"),
    )
    assert (created["commissionCents"], created["type"]) == (10, "ClickReward")
    assert adjusted == {
        "conversionId": created["conversionId"], "affiliateId": str(ben), "programId": str(click_brand.programs[-1]),
        "amountCents": 0, "previousAmountCents": 0, "currency": "USD", "commissionCents": 30,
        "previousCommissionCents": 10, "status": "Pending", "previousStatus": "Pending",
        "attributionMethod": "cpc_aggregation",
    }  # fmt: skip


def test_increase_is_delivered_to_subscribers(click_brand, ben, receiver, drain):
    click_brand.endpoint(receiver.url, ["conversion.adjusted"])
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(0)))
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(1)))

    drain()

    assert [request.event["type"] for request in receiver.received] == ["conversion.adjusted"]


def test_fee_changed_within_the_hour_gets_its_own_conversion(click_brand, ben):
    program_id = click_brand.programs[-1]
    for cents, currency in ((10, "USD"), (12, "USD"), (12, "EUR"), (10, "USD")):
        click_brand.rows(
            "update program set click_reward_cents = %s, click_reward_currency = %s where id = %s returning id",
            cents, currency, program_id,
        )  # fmt: skip
        write(click_brand, build_click(click_brand, ben))

    rows = [(name.partition("@")[2], cents, currency) for name, cents, currency, _ in list_aggregates(click_brand)]
    assert sorted(rows) == [("", 20, "USD"), ("12EUR", 12, "EUR"), ("12USD", 12, "USD")]


@pytest.mark.parametrize("path", ["/api/conversions/{}/deny", "/api/v1/conversions/{}/invalidate"])
def test_clicks_after_a_denial_are_only_recorded(click_brand, ben, path):
    first = build_click(click_brand, ben, at=minutes_after_hour(0))
    write(click_brand, first)
    (conversion_id,) = click_brand.rows("select id from conversion")[0]
    answer = click_brand.person("Manager").post(path.format(conversion_id), {})
    assert answer.status_code == 200, answer.json
    later, next_hour = (
        build_click(click_brand, ben, at=minutes_after_hour(10)),
        build_click(click_brand, ben, at=minutes_after_hour(61)),
    )

    write(click_brand, later, next_hour)

    assert list_outcomes(click_brand, [first, later, next_hour]) == ["earned", "recorded", "earned"]


def test_approved_hour_still_grows(click_brand, ben):
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(0)))
    click_brand.rows("update conversion set status = 'Approved' returning id")

    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(1)))

    assert [(cents, status) for _, cents, _, status in list_aggregates(click_brand)] == [(20, "Approved")]


def test_clicks_during_a_payout_are_paid_by_the_next(app):
    payroll = Payroll.create(app)
    payroll.execute("update program set click_reward_cents = 10, click_reward_currency = 'USD'")
    brand, ann = payroll.brand, payroll.affiliate("ann")
    write(brand, build_click(brand, ann, at=minutes_after_hour(0)))
    payroll.run(10)

    write(brand, build_click(brand, ann, at=minutes_after_hour(1)), build_click(brand, ann, at=minutes_after_hour(2)))
    payroll.pay()
    state_between = list_aggregates(brand), payroll.preview().planned.confirm_total_cents, payroll.balance("ann")
    payroll.run(20)
    payroll.pay()

    assert ([row[1] for row in state_between[0]], *state_between[1:]) == ([30], 20, {"USD": 20})
    assert payroll.payouts() == [("Paid", 10), ("Paid", 20)]
    assert [(cents, status) for _, cents, _, status in list_aggregates(brand)] == [(30, "Paid")]
    assert payroll.balance("ann") in ({}, {"USD": 0})


def test_paid_hour_gets_a_second_conversion(click_brand, ben):
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(0)))
    click_brand.rows("update conversion set status = 'Paid' returning id")

    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(1)))
    write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(2)))

    assert [(cents, status) for _, cents, _, status in list_aggregates(click_brand)] == [(10, "Paid"), (20, "Pending")]


def test_clicks_earn_after_repeated_payouts_of_their_hour(click_brand, ben):
    for minute in range(8):
        write(click_brand, build_click(click_brand, ben, at=minutes_after_hour(minute)))
        click_brand.rows("update conversion set status = 'Paid' returning id")

    assert [(cents, status) for _, cents, _, status in list_aggregates(click_brand)] == [(10, "Paid")] * 8
    assert click_brand.rows("select outcome, count(*) from click group by 1") == [("earned", 8)]


def test_affiliate_cpc_fee_takes_precedence_over_program_fee(brand):
    brand.program(
        default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=Decimal("0.25")
    )
    ben = brand.affiliate("ben")
    ann = brand.affiliate("ann", custom_commission_type="Fixed", custom_commission_value=Decimal(1))

    write(brand, build_click(brand, ben), build_click(brand, ann, slug="ann"))

    rows = brand.rows("select affiliate_id, commission_cents, rate_source, rate_type, rate_value from conversion")
    assert sorted(rows, key=lambda row: row[1]) == [
        (ben, 25, "program", "Fixed", Decimal("0.25")),
        (ann, 100, "affiliate", "Fixed", Decimal(1)),
    ]


def test_recruiter_earns_no_override_on_clicks(brand, drain):
    brand.program(click_reward_cents=100, sub_affiliate_enabled=True, sub_affiliate_percent=Decimal(10))
    ann = brand.affiliate("ann")
    ben = brand.affiliate("ben", recruited_by_affiliate_id=ann)

    write(brand, build_click(brand, ben))
    drain()

    assert brand.rows("select affiliate_id from conversion") == [(ben,)]


@pytest.mark.parametrize(
    "columns", [{"status": "Paused"}, {"status": "Banned"}, {"status": "Pending"}, {"is_test": True}]
)
def test_clicks_of_an_ineligible_affiliate_are_only_recorded(click_brand, columns):
    click = build_click(click_brand, click_brand.affiliate("ben", **columns))

    write(click_brand, click)

    assert list_outcomes(click_brand, [click]) == ["recorded"]
    assert click_brand.rows("select count(*) from conversion") == [(0,)]


@pytest.mark.parametrize("column", ["is_active = false", "archived_at = now()", "suspended_at = now()"])
def test_closed_program_pays_nothing(click_brand, ben, column):
    click_brand.rows(f"update program set {column} returning id")
    click = build_click(click_brand, ben)

    write(click_brand, click)

    assert list_outcomes(click_brand, [click]) == ["recorded"]


def test_hold_starts_at_the_first_click(click_brand, ben):
    write(
        click_brand,
        build_click(click_brand, ben, at=minutes_after_hour(5)),
        build_click(click_brand, ben, at=minutes_after_hour(9)),
    )

    assert click_brand.rows("select occurred_at, hold_until from conversion") == [
        (minutes_after_hour(5), minutes_after_hour(5) + timedelta(days=30))
    ]


@pytest.fixture
def brand_with_small_budget(brand):
    """A brand whose program pays 10 cents a click and has a budget of 75 cents: 7 clicks."""
    brand.program(click_reward_cents=10, budget_cents=75)
    return brand


def test_batch_earns_as_many_clicks_as_the_budget_allows(brand_with_small_budget):
    ben = brand_with_small_budget.affiliate("ben")
    batch = [build_click(brand_with_small_budget, ben, at=minutes_after_hour(n)) for n in range(12)]

    write(brand_with_small_budget, *batch)

    assert list_outcomes(brand_with_small_budget, batch) == ["earned"] * 7 + ["over_budget"] * 5
    assert [row[1] for row in list_aggregates(brand_with_small_budget)] == [70]


def test_concurrent_clicks_earn_no_more_than_the_budget(app, brand_with_small_budget):
    ben = brand_with_small_budget.affiliate("ben")
    batch = [build_click(brand_with_small_budget, ben) for _ in range(200)]

    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(
                lambda start: write_on_own_connection(brand_with_small_budget, *batch[start : start + 5]),
                range(0, 200, 5),
            )
        )

    assert sorted(list_outcomes(brand_with_small_budget, batch)) == ["earned"] * 7 + ["over_budget"] * 193
    assert sum(row[1] for row in list_aggregates(brand_with_small_budget)) == 70
    assert [cents for _, cents, _ in sum_ledger(brand_with_small_budget)] == [70]


def test_denied_clicks_release_their_budget(brand_with_small_budget):
    ben = brand_with_small_budget.affiliate("ben")
    write(
        brand_with_small_budget,
        *[build_click(brand_with_small_budget, ben, at=minutes_after_hour(n)) for n in range(9)],
    )
    (conversion_id,) = brand_with_small_budget.rows("select id from conversion")[0]
    brand_with_small_budget.person("Manager").post(f"/api/conversions/{conversion_id}/deny", {})
    later = build_click(brand_with_small_budget, ben, at=minutes_after_hour(61))

    write(brand_with_small_budget, later)

    assert list_outcomes(brand_with_small_budget, [later]) == ["earned"]


def test_budget_without_an_exchange_rate_pays_nothing(brand):
    brand.program(click_reward_cents=10, budget_cents=1_000, budget_currency="BWP")
    click = build_click(brand, brand.affiliate("ben"))

    write(brand, click)

    assert list_outcomes(brand, [click]) == ["over_budget"]


def test_budget_in_another_currency_uses_the_newest_rate(brand):
    program_rows.store_rate("BBD", "2", datetime.now(UTC))
    program_rows.store_rate("USD", "1", datetime.now(UTC))
    brand.program(click_reward_cents=10, budget_cents=50, budget_currency="BBD")
    ben = brand.affiliate("ben")
    batch = [build_click(brand, ben, at=minutes_after_hour(n)) for n in range(4)]

    write(brand, *batch)

    assert list_outcomes(brand, batch) == ["earned", "earned", "over_budget", "over_budget"]
