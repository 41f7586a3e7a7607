"""The sum in USD that a person confirms: exactly what the run's lines come to. Source: core spec, "Payouts"."""

from fractions import Fraction

import pytest

from tests.support.api.payouts import RUN, URL, owner_session, problem_fields, read_refusal
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    found = Payroll.create(app)
    for slug in ("ann", "ben"):
        found.affiliate(slug)
    return found


def _previewed(payroll, **body):
    return owner_session(payroll).post(f"{URL}/preview", body).json


def _confirmed(seen, **more):
    return {
        "confirmTotalCents": seen["totalEligibleCents"],
        "confirmTotals": seen["nativeTotalsForRun"],
        "confirmFxRates": seen["fxRunRates"],
        "confirmPayoutTotalUsdCents": seen["payoutTotalUsdCents"],
    } | more


def test_each_line_is_rounded_alone_and_the_total_is_their_sum(payroll):
    payroll.rate("EUR", "0.8")
    # 0.01 EUR are 1.25 US cents: three of them are 3.75, as lines 1 + 1 + 1.
    for _ in range(3):
        payroll.sell("ann", 5, "EUR")

    seen = _previewed(payroll)
    receipt = owner_session(payroll).post(RUN, _confirmed(seen)).json

    assert (seen["usdEstimateAtRunRateCents"], seen["payoutTotalUsdCents"], seen["payoutCount"]) == (3, 3, 1)
    assert receipt["totalCents"] == 3
    assert payroll.lines("amount_cents") == [(1,), (1,), (1,)]


@pytest.mark.parametrize(
    ("currency", "rate"), [("JPY", "151.37"), ("KWD", "0.3071"), ("EUR", "0.913377"), ("USD", "1")]
)
def test_it_is_what_a_run_pays_in_every_currency(payroll, currency, rate):
    payroll.rate(currency, rate)
    for slug, amount in (("ann", 12_345), ("ann", 99), ("ben", 70_007)):
        payroll.sell(slug, amount, currency)

    seen = _previewed(payroll)

    exponent = {"JPY": 0, "KWD": 3}.get(currency, 2)
    per_native = Fraction(100) / (10**exponent * Fraction(rate))
    lines = [round(round(Fraction(amount, 5)) * per_native) for amount in (12_345, 99, 70_007)]
    assert seen["payoutTotalUsdCents"] == sum(lines)
    assert owner_session(payroll).post(RUN, _confirmed(seen)).json["totalCents"] == sum(lines)


def test_a_debt_is_converted_as_its_line_is(payroll):
    payroll.rate("EUR", "0.8")
    payroll.sell("ann", 10_000, "EUR", externalEventId="first")
    owner_session(payroll).post(RUN, _confirmed(_previewed(payroll)))
    payroll.pay()
    payroll.brand.refund("first", 4_001)
    payroll.sell("ann", 10_003, "EUR")

    seen = _previewed(payroll)
    receipt = owner_session(payroll).post(RUN, _confirmed(seen)).json

    # 20.01 EUR are 25.0125 USD, and 8.00 EUR are held back.
    assert receipt["totalCents"] == seen["payoutTotalUsdCents"] == 2_501 - 1_000


def test_whom_nothing_would_reach_is_neither_in_the_total_nor_counted(payroll):
    payroll.rate("JPY", "400")
    payroll.sell("ann", 5, "JPY")
    payroll.sell("ben", 10_000)

    seen = _previewed(payroll)
    receipt = owner_session(payroll).post(RUN, _confirmed(seen)).json

    assert (seen["payoutTotalUsdCents"], seen["payoutCount"]) == (2_000, 1)
    assert [one["amountCents"] for one in receipt["payouts"]] == [2_000]


def test_who_stays_behind_is_not_in_the_total(payroll):
    payroll.affiliate("cyd", method=None)
    for slug in ("ann", "ben", "cyd"):
        payroll.sell(slug, 10_000)

    seen = _previewed(payroll)

    assert (seen["payoutTotalUsdCents"], seen["payoutCount"]) == (4_000, 2)
    amounts = {one["affiliateName"]: one["payoutUsdCents"] for one in seen["candidates"]}
    assert amounts == {"Ann": 2_000, "Ben": 2_000, "Cyd": 0}


def test_it_is_narrowed_as_the_run_is(payroll):
    payroll.affiliate("cyd", method="Wallet")
    payroll.sell("ann", 10_000)
    payroll.sell("cyd", 20_000)
    cyd = str(payroll.affiliates["cyd"])

    assert _previewed(payroll, affiliateId=cyd)["payoutTotalUsdCents"] == 4_000
    assert _previewed(payroll, method="ProcessorConnect")["payoutTotalUsdCents"] == 2_000


def test_conversions_are_left_out_where_nobody_asks_for_them(payroll):
    payroll.sell("ann", 10_000)
    payroll.sell("ann", 10_000)

    (candidate,) = _previewed(payroll, listConversions=False)["candidates"]

    assert (candidate["eligibleConversionIds"], candidate["conversionCount"]) == ([], 2)
    assert problem_fields(owner_session(payroll).post(f"{URL}/preview", {"listConversions": "no"})) == {
        "listConversions"
    }


def test_another_sum_is_refused_with_the_present_one_though_native_totals_are_the_same(payroll):
    payroll.rate("EUR", "0.8")
    for _ in range(3):
        payroll.sell("ann", 5, "EUR")
    seen = _previewed(payroll)

    answer = owner_session(payroll).post(RUN, _confirmed(seen, confirmPayoutTotalUsdCents=4))

    assert read_refusal(answer) == (409, "confirm_total_mismatch")
    assert answer.json["payoutTotalUsdCents"] == 3
    assert payroll.payouts() == payroll.lines() == []


def test_every_mismatch_tells_the_sum_of_now(payroll):
    payroll.rate("EUR", "0.8")
    payroll.sell("ann", 10_000, "EUR", externalEventId="first")
    seen = _previewed(payroll)
    payroll.brand.refund("first", 5_000)

    moved = owner_session(payroll).post(RUN, _confirmed(seen))
    assert (read_refusal(moved), moved.json["payoutTotalUsdCents"]) == ((409, "confirm_total_mismatch"), 1_250)
    payroll.rate("EUR", "0.5")
    dearer = owner_session(payroll).post(RUN, _confirmed(_previewed(payroll), confirmFxRates=seen["fxRunRates"]))
    assert (read_refusal(dearer), dearer.json["payoutTotalUsdCents"]) == ((409, "confirm_total_mismatch"), 2_000)
    assert payroll.payouts() == []


@pytest.mark.parametrize("sent", [-1, "2000", 2000.0, True, [], 10**30])
def test_a_sum_that_cannot_be_is_refused(payroll, sent):
    payroll.sell("ann", 10_000)

    answer = owner_session(payroll).post(RUN, {"confirmTotalCents": 2_000, "confirmPayoutTotalUsdCents": sent})

    assert problem_fields(answer) == {"confirmPayoutTotalUsdCents"}
    assert payroll.payouts() == []


def test_the_method_of_each_candidate_is_said_when_asked(payroll):
    for slug, method in (("wal", "Wallet"), ("non", None)):
        payroll.affiliate(slug, method=method)
        payroll.sell(slug, 10_000)

    listed = _previewed(payroll, listMethods=True)["candidates"]
    assert {one["affiliateName"]: one["method"] for one in listed} == {"Wal": "Wallet", "Non": None}
    assert all("method" not in one for one in _previewed(payroll)["candidates"])
    assert problem_fields(owner_session(payroll).post(f"{URL}/preview", {"listMethods": "yes"})) == {"listMethods"}
