"""Payments that redeem a code, booked per second, beside payments that do not: what attribution by coupon costs.

In: all of `gateways.booked`; and the code with its coupon, looked up, held against what the payment names, and counted
with the conversion. 100 affiliates of a tenant have a code each of one coupon, which wins over what the payment names.
Out: asking the gateway. The event says which code it was, as those of stores do; stripe's own name a discount that is
asked for, which is the gateway's pace and not ours. The codes are minted before anything is timed.
The anchor is the same worker in the same tenants with the same events, but for the discount.
"""

from functools import partial

from bench.figure import Figure, Target, interleaved
from bench.gateways import booked
from bench.ground import history, stripe
from bench.ground.machine import BenchFailed, owner
from bench.plan import Plan

_ROUNDS = 3
_PER_ROUND = 4_000
_PAST = 10_000


def measure(plan: Plan) -> list[Figure]:
    """Measure and return the one figure."""
    url = plan.machine.fresh("gateway_code_booked")
    shops, count = booked.shops(url), plan.size(_PER_ROUND)
    redeeming = [stripe.with_codes(shop) for shop in shops]
    with owner(url) as cursor, plan.machine.running("relay", "flask", "relay") as relay:
        with plan.screen.phase("conversions of the past", total=plan.size(_PAST)) as report:
            history.load(cursor, shops[0].brand, plan.size(_PAST), report)
        product, anchor = interleaved(
            partial(booked.book, plan, cursor, redeeming, count, relay),
            partial(booked.book, plan, cursor, shops, count, relay),
            rounds=_ROUNDS,
        )
        cursor.execute("select sum(redemption_count) from affiliate_coupon")
        (redeemed,) = cursor.fetchone()
    if redeemed != _ROUNDS * count:
        raise BenchFailed(f"{redeemed} of {_ROUNDS * count} redemptions were counted")
    return [Figure("gateway_code_booked", product, "events/s", Target(0.83), anchor)]
