"""Rows that a run writes in bulk statements equal those written one by one."""

from datetime import date
from fractions import Fraction
from uuid import UUID, uuid4

import orjson
import peewee
import pytest

from domain.money import money, valuation
from models import db
from models.money import fx_sums

DAY = date(2026, 3, 2)
_MAX_VALUE = 2**62
_VALUED = f"coalesce({fx_sums.narrow_sql()}, {fx_sums.wide_sql()})"


def _write_line(payroll, payout_id, conversion_id):
    payroll.execute(
        "insert into payout_line (id, organization_id, payout_id, conversion_id, native_amount_cents, native_currency,"
        " fx_rate, fx_rate_date, amount_cents, is_open)"
        " values (gen_random_uuid(), %s, %s, %s, 1, 'USD', 1, current_date, 1, false)",
        payroll.brand.id,
        payout_id,
        conversion_id,
    )


def test_bulk_event_has_the_bytes_of_a_single_event(payroll):
    conversion_ids = sorted(payroll.sell("ann", 10_000) for _ in range(3))
    payroll.run()

    (body,) = (row[0] for row in payroll.brand.rows("select body from event where type = 'payout.created'"))
    event = orjson.loads(body)
    assert event["data"]["lineItemConversionIds"] == conversion_ids
    assert body == orjson.dumps(event).decode()


def test_every_affiliate_gets_a_payout_an_event_and_a_job(payroll):
    payroll.affiliate("ben")
    for slug in ("ann", "ben", "ann"):
        payroll.sell(slug, 10_000)
    payroll.run()

    payouts = {str(payout_id) for (payout_id,) in payroll.payouts("id")}
    jobs = payroll.brand.rows("select args ->> 'payout_id' from job where name = 'payout.transfer'")
    bodies = payroll.brand.rows("select body::jsonb -> 'data' ->> 'payoutId' from event where type = 'payout.created'")
    assert len(payouts) == 2
    assert {row[0] for row in jobs} == {row[0] for row in bodies} == payouts


def test_payout_lines_are_numbered_in_conversion_order(payroll):
    payroll.affiliate("ben")
    for slug in ("ann", "ben", "ann", "ben"):
        payroll.sell(slug, 10_000)
    payroll.run()

    ordered = payroll.lines("id, conversion_id")
    assert len(ordered) == 4
    assert sorted(ordered) == sorted(ordered, key=lambda line: line[1])


def test_unconvertible_conversion_gets_no_line(payroll):
    paid = payroll.sell("ann", 10_000)
    payroll.sell("ann", 20_000, "ZMW")
    receipt = payroll.run()

    assert receipt.total_cents == 2_000
    assert payroll.lines("conversion_id, amount_cents") == [(UUID(paid), 2_000)]
    assert payroll.preview().planned.unavailable == ["ZMW"]


@pytest.mark.parametrize("missing_row", ["payout", "conversion"])
def test_line_with_a_missing_reference_is_rejected(payroll, missing_row):
    conversion_id = UUID(payroll.sell("ann", 10_000))
    payroll.run()
    ((payout_id,),) = payroll.payouts("id")
    ids_by_name = {"payout": payout_id, "conversion": conversion_id}

    _write_line(payroll, *ids_by_name.values())
    with pytest.raises(peewee.IntegrityError, match=f"names a {missing_row} that is not there"):
        _write_line(payroll, *(ids_by_name | {missing_row: uuid4()}).values())


@pytest.mark.parametrize(
    "factor",
    [
        Fraction(1),
        Fraction(1, 2),
        Fraction(3, 2),
        Fraction(100, 85),
        Fraction(2, 3_010_000_000_000),
        Fraction(_MAX_VALUE - 1, _MAX_VALUE - 3),
        Fraction(_MAX_VALUE + 1, 2),
        Fraction(10**30 + 1, 2 * 10**30),
    ],
)
def test_database_rounds_like_the_domain(payroll, factor):
    amounts = [1, 2, 3, 5, 7, 12_345, 999_999_999_999, 1_000_000_000_000, -1, -3, -12_345, -1_000_000_000_000]
    factors = valuation.Factors("USD", ["EUR"], DAY, [[factor]])
    with db.unit_of_work(payroll.brand.id):
        rows = db.db.run(
            f"select {_VALUED} from unnest(%(amounts)s::bigint[]) with ordinality due (cents, place)"
            f" left join {fx_sums.TABLE} on r.currency = 'EUR' and r.day = %(day)s order by place",
            {"amounts": amounts, "day": DAY, **fx_sums.table_params(factors)},
        )
    expected = [money.divide_half_even(cents * factor.numerator, factor.denominator) for cents in amounts]
    assert [int(row[0]) for row in rows] == expected


def test_amount_without_a_rate_has_no_value(payroll):
    factors = valuation.Factors("USD", ["EUR"], DAY, [[None]])
    with db.unit_of_work(payroll.brand.id):
        rows = db.db.run(
            f"select {_VALUED} from (values (1::bigint)) due (cents)"
            f" left join {fx_sums.TABLE} on r.currency = 'EUR' and r.day = %(day)s",
            {"day": DAY, **fx_sums.table_params(factors)},
        )
    assert rows == [(None,)]
