"""Commission that a refund reverses, and its other effects (tracking spec, sections 2 and 3)."""

import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from models import db
from tests.support.rows.refund_requests import post_refund


def _sell(brand, amount, currency="USD", **columns):
    """Sell `order-a` in a new program with these columns and return the affiliate's id."""
    brand.program(**columns)
    affiliate_id = brand.affiliate("ben")
    assert brand.sale(externalEventId="order-a", amountCents=amount, currency=currency).status_code == 200
    return affiliate_id


def _build_fixed_rate(value):
    return {"default_commission_type": "Fixed", "default_commission_value": Decimal(value)}


def _read_refund_state(brand):
    return brand.rows("select status, refunded_cents, reversed_cents, refunded_at is not null from conversion")[0]


def _set_status(brand, status):
    with db.unit_of_work(brand.id):
        db.db.run("update conversion set status = %s", (status,))


def _list_events(brand, kind="conversion.refunded"):
    bodies = brand.rows("select body from event where type = %s order by created_at, id", kind)
    return [json.loads(body)["data"] for (body,) in bodies]


@pytest.mark.parametrize(
    ("amount", "currency", "rate", "refunds", "reversals"),
    [
        (10_000, "USD", {"default_commission_value": Decimal(20)}, [4_000, 6_000], [800, 1_200]),
        (10_000, "USD", {"default_commission_value": Decimal(20)}, [None], [2_000]),
        # 3 cents over 7: 0.43 0.86 1.29 1.71 2.14 2.57 3
        (7, "USD", _build_fixed_rate("0.03"), [1] * 7, [0, 1, 0, 1, 0, 1, 0]),
        # 2 over 4: 0.5 1 1.5 2, ties to even
        (4, "USD", _build_fixed_rate("0.02"), [1] * 4, [0, 1, 1, 0]),
        # 6 over 4: 1.5 3 4.5 6
        (4, "USD", _build_fixed_rate("0.06"), [1] * 4, [2, 1, 1, 2]),
        # 1 over 3: the last one takes the remainder
        (3, "USD", _build_fixed_rate("0.01"), [1, None], [0, 1]),
        (1_000, "JPY", {"default_commission_value": Decimal(10)}, [333, 333, 334], [33, 34, 33]),
        (5, "JPY", _build_fixed_rate("7"), [1, 1, 1, 1, 1], [1, 2, 1, 2, 1]),
        # 0.005 KWD is 5: 2.5 is 2
        (1_234, "KWD", _build_fixed_rate("0.005"), [617, 617], [2, 3]),
        (10**12, "USD", {"default_commission_value": Decimal(100)}, [1, 333_333_333_333, None], [1, 333_333_333_333]),
        (10_000, "USD", {"default_commission_value": Decimal(0)}, [1, None], [0, 0]),
        # a commission above the amount
        (100, "USD", _build_fixed_rate("5"), [50, 25, 25], [250, 125, 125]),
        (99_999, "USD", {"default_commission_value": Decimal("33.333333")}, [33_333] * 3, [11_111] * 3),
    ],
)
def test_reversed_commission_is_rounded_half_to_even_on_the_running_total(
    brand, *, amount, currency, rate, refunds, reversals
):
    _sell(brand, amount, currency, **rate)

    for cents in refunds:
        assert post_refund(brand, "order-a", cents).status_code == 200

    if len(reversals) < len(refunds):
        reversals = [*reversals, amount - sum(reversals)]
    rows = brand.rows(
        "select v.commission_cents from reversal v join refund r on r.id = v.refund_id order by r.cumulative_cents"
    )
    assert [cents for (cents,) in rows] == reversals
    assert brand.rows("select commission_cents - reversed_cents, refunded_cents, status from conversion") == [
        (0, amount, "Refunded")
    ]
    assert brand.rows("select coalesce(sum(amount_cents), 0) from ledger_entry") == [(0,)]
    entries = brand.rows("select -amount_cents from ledger_entry where kind = 'reverse' order by created_at, id")
    assert [cents for (cents,) in entries] == [cents for cents in reversals if cents]
    assert [event["commissionReversedCents"] for event in _list_events(brand)] == reversals


@pytest.mark.parametrize("status", ["Pending", "Approved", "Paid"])
def test_only_the_completing_refund_sets_status_and_time(brand, drain, status):
    _sell(brand, 10_000)
    drain()
    _set_status(brand, status)

    post_refund(brand, "order-a", 9_999)
    assert _read_refund_state(brand) == (status, 9_999, 2_000, False)
    post_refund(brand, "order-a", 1)
    assert _read_refund_state(brand) == ("Refunded", 10_000, 2_000, True)


@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
def test_refund_of_denied_or_invalidated_sale_reverses_no_commission(brand, drain, status):
    _sell(brand, 10_000)
    drain()
    _set_status(brand, status)

    part, rest = post_refund(brand, "order-a", 4_000), post_refund(brand, "order-a")
    repeated = post_refund(brand, "order-a")

    assert (part.json["cumulativeRefundedAmountCents"], part.json["isFullRefund"]) == (4_000, False)
    assert (rest.json["cumulativeRefundedAmountCents"], rest.json["isFullRefund"]) == (10_000, True)
    assert repeated.json["error"] == "already_fully_refunded"
    assert _read_refund_state(brand)[:3] == (status, 10_000, 0)
    assert brand.rows("select count(*) from ledger_entry where kind = 'reverse'") == [(0,)]
    assert [event["commissionReversedCents"] for event in _list_events(brand)] == [0, 0]


def test_each_refund_emits_an_event_with_its_amounts(brand, drain):
    affiliate_id = _sell(brand, 10_000, "EUR")
    drain()
    (conversion_id,) = brand.rows("select id::text from conversion")[0]

    post_refund(brand, "order-a", 2_500)
    post_refund(brand, "order-a")
    drain()

    times = brand.rows('select to_char(created_at, \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') from refund order by created_at')
    common = {
        "conversionId": conversion_id,
        "affiliateId": str(affiliate_id),
        "programId": str(brand.programs[0]),
        "currency": "EUR",
    }
    assert _list_events(brand) == [
        common
        | {
            "refundedAmountCents": 2_500,
            "commissionReversedCents": 500,
            "cumulativeRefundedAmountCents": 2_500,
            "isFullRefund": False,
            "refundedAt": times[0][0],
        },
        common
        | {
            "refundedAmountCents": 7_500,
            "commissionReversedCents": 1_500,
            "cumulativeRefundedAmountCents": 10_000,
            "isFullRefund": True,
            "refundedAt": times[1][0],
        },
    ]


def test_refund_is_a_line_in_the_sales_history(brand):
    _sell(brand, 10_000)

    post_refund(brand, "order-a", 2_500)

    assert brand.rows("select event_type, amount_cents, commission_cents from conversion_event order by 1") == [
        ("initial", 10_000, 2_000),
        ("refund", -2_500, -500),
    ]


def test_refund_before_settlement_settles_the_sale_first(brand, drain):
    _sell(brand, 10_000)

    answer = post_refund(brand, "order-a", 4_000)
    state_before = _read_refund_state(brand)
    drain(deliveries=2)

    assert answer.json["conversionId"] == brand.rows("select id::text from sale")[0][0]
    assert state_before == _read_refund_state(brand) == ("Pending", 4_000, 800, False)
    assert [event["commissionCents"] for event in _list_events(brand, "conversion.created")] == [2_000]
    assert len(_list_events(brand)) == 1
    assert brand.rows("select kind, amount_cents from ledger_entry order by 1") == [("earn", 2_000), ("reverse", -800)]


def test_refunds_before_and_after_settlement_reach_the_same_totals(brand, rival, drain):
    for tenant in (brand, rival):
        _sell(tenant, 999, default_commission_value=Decimal("12.5"))
    post_refund(brand, "order-a", 333)
    drain()
    post_refund(rival, "order-a", 333)

    assert _read_refund_state(brand) == _read_refund_state(rival) == ("Pending", 333, 42, False)


def test_refund_lowers_the_referred_revenue(brand):
    _sell(brand, 10_000)

    post_refund(brand, "order-a", 2_500)

    assert brand.rows("select currency, net_cents::int from affiliate_revenue") == [("USD", 7_500)]


def test_concurrent_refunds_never_exceed_the_sale(brand, drain):
    _sell(brand, 1_000)
    drain()

    def send(amount):
        try:
            return post_refund(brand, "order-a", amount)
        finally:
            db.db.drop_connection()

    with ThreadPoolExecutor(25) as pool:
        answers = list(pool.map(send, range(31, 81)))
    refunded = [answer.json["refundedAmountCents"] for answer in answers if answer.status_code == 200]
    codes = {answer.json["error"] for answer in answers if answer.status_code != 200}

    assert 1_000 - 80 <= sum(refunded) <= 1_000
    assert {answer.status_code for answer in answers} == {200, 422}
    assert codes <= {"amount_exceeds_original", "already_fully_refunded"}
    assert brand.rows("select refunded_cents from conversion") == [(sum(refunded),)]
    assert brand.rows("select sum(amount_cents)::int from refund") == [(sum(refunded),)]
    assert brand.rows("select sum(commission_cents)::int from reversal") == brand.rows(
        "select reversed_cents from conversion"
    )
    assert len(_list_events(brand)) == len(refunded)
