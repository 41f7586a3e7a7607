"""The recruiter's row when its sale is refunded, denied or paid (tracking spec, sections 2, 3 and 6)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from adapters import clock
from models import advisory_locks, db
from pipelines.conversions import refund as refunds
from tests.support.api.concurrency import start_call
from tests.support.recruits import Recruits
from tests.support.rows.refund_requests import post_refund


def _fixed_rate(value):
    return {"default_commission_type": "Fixed", "default_commission_value": Decimal(value)}


def _state(pair):
    columns = "status, commission_cents - reversed_cents, refunded_at is not null"
    return pair.parents(columns), pair.overrides(columns)


def _without_ids(events):
    return [
        {name: value for name, value in event.items() if not name.endswith("Id") and name != "refundedAt"}
        for event in events
    ]


@pytest.mark.parametrize(
    ("amount", "rate", "percent", "parts", "reversals"),
    [
        (10_000, {}, "10", [4_000, 6_000], [80, 120]),
        (10_000, {}, "10", [None], [200]),
        # an override of 3 over 7: 0.43 0.86 1.29 1.71 2.14 2.57 3
        (7, _fixed_rate("0.06"), "50", [1] * 7, [0, 1, 0, 1, 0, 1, 0]),
        # 1 over 4: 0.25 0.5 0.75 1, ties to even
        (4, _fixed_rate("0.02"), "50", [1] * 4, [0, 0, 1, 0]),
        # 6 over 4: 1.5 3 4.5 6
        (4, _fixed_rate("0.06"), "100", [1] * 4, [2, 1, 1, 2]),
        (3, _fixed_rate("0.01"), "100", [1, 1, None], [0, 1, 0]),
        (10**12, {"default_commission_value": Decimal(100)}, "100", [1, 10**12 - 2, 1], [1, 10**12 - 2, 1]),
    ],
)
def test_override_is_reversed_by_the_refunded_fraction(brand, drain, *, amount, rate, percent, parts, reversals):
    pair = Recruits.create(brand, percent=percent, **rate)
    pair.sell(externalEventId="order-a", amountCents=amount)
    drain()

    for part in parts:
        assert post_refund(brand, "order-a", part).status_code == 200
        drain(deliveries=2)

    events = pair.events("conversion.refunded", is_override=True)
    assert [event["commissionReversedCents"] for event in events] == reversals
    assert [event["isFullRefund"] for event in events] == [False] * (len(parts) - 1) + [True]
    assert _state(pair) == ([("Refunded", 0, True)], [("Refunded", 0, True)])
    assert (pair.balance(pair.ann), pair.balance(pair.ben)) == (0, 0)
    assert pair.overrides("amount_cents, refunded_cents") == [(0, 0)]


def test_partial_refund_keeps_the_status_of_both_rows(brand, drain):
    pair = Recruits.create(brand)
    pair.sell(externalEventId="order-a")
    drain()
    pair.change("update conversion set status = 'Approved'")

    post_refund(brand, "order-a", 4_000)
    drain()

    assert _state(pair) == ([("Approved", 1_200, False)], [("Approved", 120, False)])


def test_both_refunds_are_reported_with_all_fields(brand, drain):
    pair = Recruits.create(brand)
    conversion_id = pair.sell(externalEventId="order-a", currency="EUR")
    drain()
    (override_id,) = pair.overrides("id::text")[0]

    post_refund(brand, "order-a", 2_500)
    drain()
    post_refund(brand, "order-a")
    drain()

    times = brand.rows('select to_char(created_at, \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') from refund order by created_at')
    fields = [(2_500, 2_500, False, times[0][0]), (7_500, 10_000, True, times[1][0])]
    common = {"programId": str(brand.programs[0]), "currency": "EUR"}
    for is_override, identity, reversed_cents in (
        (False, {"conversionId": str(conversion_id), "affiliateId": str(pair.ben)}, [500, 1_500]),
        (
            True,
            {
                "conversionId": override_id,
                "affiliateId": str(pair.ann),
                "attributionMethod": "sub_affiliate_override",
                "parentAffiliateConversionId": str(conversion_id),
            },
            [50, 150],
        ),
    ):
        assert pair.events("conversion.refunded", is_override=is_override) == [
            common
            | identity
            | {
                "refundedAmountCents": amount,
                "commissionReversedCents": cents,
                "cumulativeRefundedAmountCents": cumulative,
                "isFullRefund": is_full,
                "refundedAt": at,
            }
            for (amount, cumulative, is_full, at), cents in zip(fields, reversed_cents, strict=True)
        ]


@pytest.mark.parametrize("parts", [[3_333], [3_333, 3_333, None], [None], [1, 1, 1, 9_997]])
@pytest.mark.parametrize("settles_first", [True, False], ids=["between", "before both"])
def test_refunds_before_the_override_give_the_same_result(brand, rival, drain, parts, settles_first):
    refunded_after, refunded_before = Recruits.create(brand, percent="12.5"), Recruits.create(rival, percent="12.5")
    refunded_after.sell(externalEventId="order-a")
    drain()
    for part in parts:
        post_refund(brand, "order-a", part)
        drain()

    conversion_id = refunded_before.sell(externalEventId="order-a")
    if settles_first:
        refunded_before.settle(conversion_id)
    for part in parts:
        assert post_refund(rival, "order-a", part).status_code == 200
    assert refunded_before.overrides("id") == []
    drain(deliveries=2)

    assert _state(refunded_before) == _state(refunded_after)
    assert refunded_before.balance(refunded_before.ann) == refunded_after.balance(refunded_after.ann)
    assert refunded_before.balance(refunded_before.ben) == refunded_after.balance(refunded_after.ben)
    for type in ("conversion.created", "conversion.refunded"):
        for is_override in (True, False):
            assert _without_ids(refunded_before.events(type, is_override=is_override)) == _without_ids(
                refunded_after.events(type, is_override=is_override)
            ), (type, is_override)


def test_refunds_concurrent_with_the_override_give_the_same_result(brand, drain):
    pair = Recruits.create(brand, percent="33.3333")
    pair.settle(pair.sell(externalEventId="order-a"))
    start = threading.Barrier(9)

    def send(amount):
        start.wait()
        try:
            return post_refund(brand, "order-a", amount).status_code if amount else drain() and None
        finally:
            db.db.drop_connection()

    with ThreadPoolExecutor(9) as pool:
        codes = list(pool.map(send, [None, 101, 202, 303, 404, 505, 606, 707, 808]))
    drain()

    # 3,636 of 10,000 are refunded; 2,000 and 667 were earned
    assert codes[1:] == [200] * 8
    assert _state(pair) == ([("Pending", 2_000 - 727, False)], [("Pending", 667 - 243, False)])
    assert (pair.balance(pair.ben), pair.balance(pair.ann)) == (1_273, 424)
    assert len(pair.events("conversion.refunded", is_override=True)) == 8


def test_override_with_pending_refunds_waits_for_a_payout_run(brand, drain):
    # given: a sale that was refunded before its recruiter's share was written
    pair = Recruits.create(brand)
    conversion_id = pair.sell(externalEventId="order-a")
    pair.settle(conversion_id)
    post_refund(brand, "order-a", 4_000)

    # when: a payout run is in progress and locks the sale
    with db.unit_of_work(brand.id):
        advisory_locks.take_payout_run_lock(brand.id)
        join_writer = start_call(lambda: drain("sales"))
        db.db.run("select from conversion where id = %s for key share", (conversion_id,))
    join_writer()

    # then: no job failed, and the override is written after the run
    assert brand.rows("select last_error, max_attempts - attempt from job where name = 'override.write'") == [
        (None, 20)
    ]
    pair.change("update job set run_at = now()")
    drain()
    assert _state(pair) == ([("Pending", 1_200, False)], [("Pending", 120, False)])


def test_repeated_cascade_reverses_nothing_more(brand, drain):
    pair = Recruits.create(brand)
    conversion_id = pair.sell(externalEventId="order-a")
    drain()
    post_refund(brand, "order-a", 4_000)
    drain()

    for _ in range(3):
        with db.unit_of_work(brand.id):
            refunds.refund_override(organization_id=brand.id, conversion_id=conversion_id, now=clock.now())

    assert pair.overrides("commission_cents - reversed_cents") == [(120,)]
    assert len(pair.events("conversion.refunded", is_override=True)) == 1


def test_cascade_without_an_override_does_nothing(brand, drain):
    pair = Recruits.create(brand, sub_affiliate_enabled=False)
    pair.sell(externalEventId="order-a")
    drain()

    post_refund(brand, "order-a")
    assert drain() == 0

    assert pair.events("conversion.refunded", is_override=True) == []
    assert pair.parents("status") == [("Refunded",)]


@pytest.mark.parametrize("part", [4_000, None], ids=["part", "all"])
def test_paid_override_is_not_reversed(brand, drain, part):
    pair = Recruits.create(brand)
    pair.sell(externalEventId="order-a")
    drain()
    pair.change("update conversion set status = 'Paid'")

    post_refund(brand, "order-a", part)
    drain()

    assert pair.overrides("status, reversed_cents, refunded_at") == [("Paid", 0, None)]
    assert pair.balance(pair.ann) == 200
    assert pair.events("conversion.refunded", is_override=True) == []
    assert pair.parents("reversed_cents") == [(800,) if part else (2_000,)]


def test_override_paid_after_a_partial_refund_keeps_the_rest(brand, drain):
    pair = Recruits.create(brand)
    pair.sell(externalEventId="order-a")
    drain()
    post_refund(brand, "order-a", 4_000)
    drain()
    pair.change("update conversion set status = 'Paid' where parent_id is not null")

    post_refund(brand, "order-a")
    drain()

    assert pair.overrides("status, reversed_cents") == [("Paid", 80)]
    assert pair.parents("status, reversed_cents") == [("Refunded", 2_000)]


@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
def test_late_override_has_the_status_of_its_sale(brand, drain, status):
    pair = Recruits.create(brand)
    pair.settle(pair.sell())
    pair.change(f"update conversion set status = '{status}'")

    drain()

    assert pair.overrides("status, commission_cents") == [(status, 200)]


@pytest.mark.parametrize("is_late", [False, True], ids=["in time", "late"])
@pytest.mark.parametrize("status", ["Denied", "Invalidated"])
def test_override_of_a_denied_sale_reverses_nothing(brand, drain, status, is_late):
    pair = Recruits.create(brand)
    pair.settle(pair.sell(externalEventId="order-a"))
    if not is_late:
        drain()
    pair.change(f"update conversion set status = '{status}'")

    for part in (4_000, None):
        assert post_refund(brand, "order-a", part).status_code == 200
    drain()

    assert pair.parents("status, reversed_cents, refunded_cents") == [(status, 0, 10_000)]
    assert pair.overrides("status, reversed_cents") == [(status, 0)]
    for is_override in (False, True):
        events = pair.events("conversion.refunded", is_override=is_override)
        assert [
            (event["commissionReversedCents"], event["cumulativeRefundedAmountCents"], event["isFullRefund"])
            for event in events
        ] == [(0, 4_000, False), (0, 10_000, True)]
