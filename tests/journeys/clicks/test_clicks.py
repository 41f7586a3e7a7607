"""From a batch of clicks to what is stored, what is a duplicate and what earns.

Source: core spec, "Program" (Cpc primaries, clickRewardCents, budgetCents) and "Click and lead fraud review".
"""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from models import db
from tests.support.rows import program_rows
from tests.support.rows.click_rows import AGENT, aggregates, consume, hashed, outcomes, raw, write
from tests.support.rows.paying import Payroll

HOUR = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def paying(brand):
    """A program that pays 10 US cents a click."""
    brand.program(click_reward_cents=10)
    return brand


@pytest.fixture
def ben(paying):
    return paying.affiliate("ben")


def _at(minutes: float) -> datetime:
    return HOUR + timedelta(minutes=minutes)


def _ledger(brand):
    return brand.rows("select kind, sum(amount_cents)::int, count(*) from ledger_entry group by kind order by kind")


def _told(brand, event_type):
    rows = brand.rows("select body from event where type = %s order by created_at, id", event_type)
    return [json.loads(body)["data"] for (body,) in rows]


def test_a_click_is_stored_with_what_is_known_of_it(brand):
    brand.program()
    click = raw(brand, brand.affiliate("ben"), visitor="v", network="n", sub_id="mail", at=_at(0))

    written = write(brand, click)

    assert (written.new, written.duplicates) == (1, 0)
    assert brand.rows(
        "select id::text, slug, sub_id, encode(visitor_hash, 'hex'), encode(network_hash, 'hex'), occurred_at,"
        " is_duplicate, score, reasons, outcome, conversion_id from click"
    ) == [(click.id, "ben", "mail", hashed("v"), hashed("n"), _at(0), False, 0, None, "recorded", None)]


def test_a_click_that_a_page_tells_is_written_as_it_was_answered(paying):
    ben = paying.affiliate("told")

    answer = paying.app.test_client().post(
        "/api/v1/track/click",
        json={"slug": "told", "programId": str(paying.programs[-1])},
        headers={"User-Agent": AGENT},
    )
    consume()

    rows = paying.rows("select id::text, affiliate_id, slug, outcome, visitor_hash is not null from click")
    assert rows == [(answer.json["clickId"], ben, "told", "earned", True)]


def test_a_click_in_a_program_that_pays_for_none_earns_nothing(brand):
    brand.program()

    write(brand, raw(brand, brand.affiliate("ben")))

    assert brand.rows("select count(*) from conversion") == [(0,)]


def test_a_batch_that_comes_twice_changes_nothing(paying, ben):
    batch = [raw(paying, ben, at=_at(n)) for n in range(3)]

    first, again = write(paying, *batch), write(paying, *batch)

    assert (first.new, again.new) == (3, 0)
    assert [row[1] for row in aggregates(paying)] == [30]
    assert _ledger(paying) == [("earn", 30, 1)]
    assert len(_told(paying, "conversion.created")) == 1


def test_a_click_that_is_in_a_batch_twice_is_written_once(paying, ben):
    click = raw(paying, ben)

    assert write(paying, click, click).new == 1
    assert [row[1] for row in aggregates(paying)] == [10]


def test_of_a_batch_that_is_known_in_part_the_rest_is_written(paying, ben):
    batch = [raw(paying, ben, at=_at(n)) for n in range(4)]
    write(paying, *batch[:2])

    assert write(paying, *batch).new == 2
    assert [row[1] for row in aggregates(paying)] == [40]


def test_clicks_of_two_organizations_are_no_batch(paying, rival, ben):
    rival.program()
    foreign = raw(rival, rival.affiliate("ben"))

    with pytest.raises(ValueError, match="one organization"):
        write(paying, raw(paying, ben), foreign)


@pytest.mark.parametrize(
    "fields", [{"occurred_at": "2026-03-01T12:00:00"}, {"occurred_at": "x"}, {"organization_id": "x"}]
)
def test_a_time_or_an_id_that_is_none_is_refused(paying, ben, fields):
    with pytest.raises(ValueError, match=r"zone|isoformat|hexadecimal"):
        write(paying, raw(paying, ben, **fields))


@pytest.mark.parametrize(
    ("minutes", "expected"), [(0, "duplicate"), (59.9, "duplicate"), (60, "earned"), (90, "earned")]
)
@pytest.mark.parametrize("apart", [True, False], ids=["two batches", "one batch"])
def test_the_same_visitor_on_the_same_link_within_an_hour_is_a_duplicate(paying, ben, minutes, expected, apart):
    batch = [raw(paying, ben, visitor="v", at=_at(0)), raw(paying, ben, visitor="v", at=_at(minutes))]

    for part in [[one] for one in batch] if apart else [batch]:
        write(paying, *part)

    assert sorted(outcomes(paying, batch)) == sorted(["earned", expected])
    assert paying.rows("select count(*) from click where is_duplicate") == [(int(expected == "duplicate"),)]


def test_a_chain_of_clicks_stays_a_duplicate_of_the_one_before(paying, ben):
    batch = [raw(paying, ben, visitor="v", at=_at(50 * n)) for n in range(4)]

    write(paying, *batch)

    assert outcomes(paying, batch) == ["earned", "duplicate", "duplicate", "duplicate"]


def test_an_earlier_click_that_is_written_later_is_the_duplicate(paying, ben):
    early, late = raw(paying, ben, visitor="v", at=_at(0)), raw(paying, ben, visitor="v", at=_at(30))

    write(paying, late)
    write(paying, early)

    assert outcomes(paying, [early, late]) == ["duplicate", "earned"]


def test_a_click_that_is_written_late_is_no_duplicate_of_those_hours_away(paying, ben):
    write(paying, *[raw(paying, ben, visitor="v", at=_at(minutes)) for minutes in (0, 360)])
    late = raw(paying, ben, visitor="v", at=_at(180))
    later = raw(paying, ben, visitor="v", at=_at(301))

    write(paying, late)
    write(paying, later)

    assert outcomes(paying, [late, later]) == ["earned", "duplicate"]


def test_another_visitor_another_link_and_another_program_are_no_duplicates(paying, ben):
    first = paying.programs[-1]
    paying.program(click_reward_cents=10)
    other = paying.affiliate("ben-too")
    batch = [
        raw(paying, ben, program_id=str(first), visitor="v", at=_at(0)),
        raw(paying, ben, program_id=str(first), visitor="w", at=_at(1)),
        raw(paying, ben, program_id=str(first), visitor="v", slug="ben-2", at=_at(2)),
        raw(paying, other, visitor="v", at=_at(3)),
    ]

    write(paying, *batch)

    assert outcomes(paying, batch) == ["earned"] * 4


def test_another_organizations_visitor_is_nobodys_duplicate(paying, rival, ben):
    rival.program(click_reward_cents=10)
    foreign = raw(rival, rival.affiliate("ben"), visitor="v")
    write(rival, foreign)
    own = raw(paying, ben, visitor="v")

    write(paying, own)

    assert outcomes(paying, [own]) == ["earned"]


def test_two_writers_at_once_find_one_duplicate_between_them(app, paying, ben):
    batch = [raw(paying, ben, visitor="v", at=_at(n)) for n in range(8)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda click: _write_apart(paying, click), batch))

    assert sorted(outcomes(paying, batch)) == ["duplicate"] * 7 + ["earned"]


def _write_apart(brand, *batch):
    try:
        write(brand, *batch)
    finally:
        db.db.drop_connection()


def test_the_clicks_of_an_hour_are_one_conversion(paying, ben):
    write(paying, *[raw(paying, ben, at=_at(n)) for n in range(5)])

    (conversion,) = paying.get("/api/v1/conversions?kind=click").json["items"]
    assert conversion["externalEventId"] == f"cpc:{paying.programs[-1]}:{ben}:2026030112"
    assert {name: conversion[name] for name in ("amountCents", "commissionCents", "currency", "status", "type")} == {
        "amountCents": 0, "commissionCents": 50, "currency": "USD", "status": "Pending", "type": "ClickReward",
    }  # fmt: skip
    assert (conversion["attributionMethod"], conversion["payability"]) == ("cpc_aggregation", "payable")
    assert paying.rows("select distinct conversion_id::text from click") == [(conversion["id"],)]


def test_hours_tags_and_affiliates_are_apart(paying, ben):
    ann = paying.affiliate("ann")
    program_id = paying.programs[-1]
    batch = [
        raw(paying, ben, at=_at(0)),
        raw(paying, ben, at=_at(60)),
        raw(paying, ben, sub_id="mail", at=_at(1)),
        raw(paying, ann, slug="ann", at=_at(2)),
    ]

    write(paying, *batch)

    ids = [(f"cpc:{program_id}:{ben}:2026030112", 10), (f"cpc:{program_id}:{ben}:2026030113", 10)]
    ids += [(f"cpc:{program_id}:{ben}:2026030112:mail", 10), (f"cpc:{program_id}:{ann}:2026030112", 10)]
    assert [(name, cents) for name, cents, *_ in aggregates(paying)] == sorted(ids)
    assert paying.rows("select sub_id from conversion where sub_id is not null") == [("mail",)]


def test_later_batches_of_the_hour_make_it_grow(paying, ben):
    write(paying, raw(paying, ben, at=_at(0)))
    write(paying, *[raw(paying, ben, at=_at(n)) for n in (1, 2)])
    write(paying, raw(paying, ben, at=_at(3)))

    assert [row[1] for row in aggregates(paying)] == [40]
    assert _ledger(paying) == [("earn", 40, 3)]
    assert paying.rows("select event_type, commission_cents from conversion_event") != []
    assert paying.rows("select sum(commission_cents)::int, count(*) from conversion_event") == [(40, 3)]


def test_the_brand_is_told_once_of_its_making_and_once_per_batch_of_its_growth(paying, ben):
    write(paying, raw(paying, ben, at=_at(0)))
    write(paying, *[raw(paying, ben, at=_at(n)) for n in (1, 2)])

    (created,), (adjusted,) = _told(paying, "conversion.created"), _told(paying, "conversion.adjusted")
    assert (created["commissionCents"], created["type"]) == (10, "ClickReward")
    assert adjusted == {
        "conversionId": created["conversionId"], "affiliateId": str(ben), "programId": str(paying.programs[-1]),
        "amountCents": 0, "previousAmountCents": 0, "currency": "USD", "commissionCents": 30,
        "previousCommissionCents": 10, "status": "Pending", "previousStatus": "Pending",
        "attributionMethod": "cpc_aggregation",
    }  # fmt: skip


def test_growth_is_delivered_to_who_subscribed(paying, ben, receiver, drain):
    paying.endpoint(receiver.url, ["conversion.adjusted"])
    write(paying, raw(paying, ben, at=_at(0)))
    write(paying, raw(paying, ben, at=_at(1)))

    drain()

    assert [sent.event["type"] for sent in receiver.received] == ["conversion.adjusted"]


def test_a_fee_that_changes_within_the_hour_gets_a_row_of_its_own(paying, ben):
    program_id = paying.programs[-1]
    for cents, currency in ((10, "USD"), (12, "USD"), (12, "EUR"), (10, "USD")):
        paying.rows(
            "update program set click_reward_cents = %s, click_reward_currency = %s where id = %s returning id",
            cents, currency, program_id,
        )  # fmt: skip
        write(paying, raw(paying, ben))

    rows = [(name.partition("@")[2], cents, currency) for name, cents, currency, _ in aggregates(paying)]
    assert sorted(rows) == [("", 20, "USD"), ("12EUR", 12, "EUR"), ("12USD", 12, "USD")]


@pytest.mark.parametrize("path", ["/api/conversions/{}/deny", "/api/v1/conversions/{}/invalidate"])
def test_after_the_brand_decided_against_an_hour_later_clicks_are_recorded_only(paying, ben, path):
    first = raw(paying, ben, at=_at(0))
    write(paying, first)
    (conversion_id,) = paying.rows("select id from conversion")[0]
    answer = paying.person("Manager").post(path.format(conversion_id), {})
    assert answer.status_code == 200, answer.json
    later, next_hour = raw(paying, ben, at=_at(10)), raw(paying, ben, at=_at(61))

    write(paying, later, next_hour)

    assert outcomes(paying, [first, later, next_hour]) == ["earned", "recorded", "earned"]


def test_an_approved_hour_still_takes_what_comes_late(paying, ben):
    write(paying, raw(paying, ben, at=_at(0)))
    paying.rows("update conversion set status = 'Approved' returning id")

    write(paying, raw(paying, ben, at=_at(1)))

    assert [(cents, status) for _, cents, _, status in aggregates(paying)] == [(20, "Approved")]


def test_what_an_hour_gathers_while_a_payout_holds_it_is_paid_by_the_next(app):
    payroll = Payroll.create(app)
    payroll.execute("update program set click_reward_cents = 10, click_reward_currency = 'USD'")
    brand, ann = payroll.brand, payroll.affiliate("ann")
    write(brand, raw(brand, ann, at=_at(0)))
    payroll.run(10)

    write(brand, raw(brand, ann, at=_at(1)), raw(brand, ann, at=_at(2)))
    payroll.pay()
    between = aggregates(brand), payroll.preview().planned.confirm_total_cents, payroll.balance("ann")
    payroll.run(20)
    payroll.pay()

    assert ([row[1] for row in between[0]], *between[1:]) == ([30], 20, {"USD": 20})
    assert payroll.payouts() == [("Paid", 10), ("Paid", 20)]
    assert [(cents, status) for _, cents, _, status in aggregates(brand)] == [(30, "Paid")]
    assert payroll.balance("ann") in ({}, {"USD": 0})


def test_a_paid_hour_has_a_successor(paying, ben):
    write(paying, raw(paying, ben, at=_at(0)))
    paying.rows("update conversion set status = 'Paid' returning id")

    write(paying, raw(paying, ben, at=_at(1)))
    write(paying, raw(paying, ben, at=_at(2)))

    assert [(cents, status) for _, cents, _, status in aggregates(paying)] == [(10, "Paid"), (20, "Pending")]


def test_a_cpc_program_pays_its_fee_and_an_affiliates_own_comes_first(brand):
    brand.program(
        default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=Decimal("0.25")
    )
    ben = brand.affiliate("ben")
    ann = brand.affiliate("ann", custom_commission_type="Fixed", custom_commission_value=Decimal(1))

    write(brand, raw(brand, ben), raw(brand, ann, slug="ann"))

    rows = brand.rows("select affiliate_id, commission_cents, rate_source, rate_type, rate_value from conversion")
    assert sorted(rows, key=lambda row: row[1]) == [
        (ben, 25, "program", "Fixed", Decimal("0.25")),
        (ann, 100, "affiliate", "Fixed", Decimal(1)),
    ]


def test_nothing_is_earned_above_an_affiliate_who_was_recruited(brand, drain):
    brand.program(click_reward_cents=100, sub_affiliate_enabled=True, sub_affiliate_percent=Decimal(10))
    ann = brand.affiliate("ann")
    ben = brand.affiliate("ben", recruited_by_affiliate_id=ann)

    write(brand, raw(brand, ben))
    drain()

    assert brand.rows("select affiliate_id from conversion") == [(ben,)]


@pytest.mark.parametrize(
    "columns", [{"status": "Paused"}, {"status": "Banned"}, {"status": "Pending"}, {"is_test": True}]
)
def test_who_cannot_earn_has_clicks_that_are_recorded(paying, columns):
    click = raw(paying, paying.affiliate("ben", **columns))

    write(paying, click)

    assert outcomes(paying, [click]) == ["recorded"]
    assert paying.rows("select count(*) from conversion") == [(0,)]


@pytest.mark.parametrize("column", ["is_active = false", "archived_at = now()", "suspended_at = now()"])
def test_a_closed_program_pays_nothing(paying, ben, column):
    paying.rows(f"update program set {column} returning id")
    click = raw(paying, ben)

    write(paying, click)

    assert outcomes(paying, [click]) == ["recorded"]


def test_the_hold_of_a_paid_click_counts_from_the_first(paying, ben):
    write(paying, raw(paying, ben, at=_at(5)), raw(paying, ben, at=_at(9)))

    assert paying.rows("select occurred_at, hold_until from conversion") == [(_at(5), _at(5) + timedelta(days=30))]


@pytest.fixture
def tight(brand):
    """A program that pays 10 cents a click and has 75 cents for it: room for 7."""
    brand.program(click_reward_cents=10, budget_cents=75)
    return brand


def test_of_a_batch_as_many_earn_as_fit_the_budget(tight):
    ben = tight.affiliate("ben")
    batch = [raw(tight, ben, at=_at(n)) for n in range(12)]

    write(tight, *batch)

    assert outcomes(tight, batch) == ["earned"] * 7 + ["over_budget"] * 5
    assert [row[1] for row in aggregates(tight)] == [70]


def test_two_hundred_clicks_at_once_on_room_for_seven_earn_seven(app, tight):
    ben = tight.affiliate("ben")
    batch = [raw(tight, ben) for _ in range(200)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda start: _write_apart(tight, *batch[start : start + 5]), range(0, 200, 5)))

    assert sorted(outcomes(tight, batch)) == ["earned"] * 7 + ["over_budget"] * 193
    assert sum(row[1] for row in aggregates(tight)) == 70
    assert [cents for _, cents, _ in _ledger(tight)] == [70]


def test_a_budget_that_is_given_back_earns_again(tight):
    ben = tight.affiliate("ben")
    write(tight, *[raw(tight, ben, at=_at(n)) for n in range(9)])
    (conversion_id,) = tight.rows("select id from conversion")[0]
    tight.person("Manager").post(f"/api/conversions/{conversion_id}/deny", {})
    later = raw(tight, ben, at=_at(61))

    write(tight, later)

    assert outcomes(tight, [later]) == ["earned"]


def test_a_budget_in_another_currency_without_a_rate_pays_nothing(brand):
    brand.program(click_reward_cents=10, budget_cents=1_000, budget_currency="BWP")
    click = raw(brand, brand.affiliate("ben"))

    write(brand, click)

    assert outcomes(brand, [click]) == ["over_budget"]


def test_a_budget_in_another_currency_is_compared_by_the_newest_rate(brand):
    program_rows.rate("BBD", "2", datetime.now(UTC))
    program_rows.rate("USD", "1", datetime.now(UTC))
    brand.program(click_reward_cents=10, budget_cents=50, budget_currency="BBD")
    ben = brand.affiliate("ben")
    batch = [raw(brand, ben, at=_at(n)) for n in range(4)]

    write(brand, *batch)

    assert outcomes(brand, batch) == ["earned", "earned", "over_budget", "over_budget"]
