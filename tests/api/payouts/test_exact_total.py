"""The confirmed USD total equals the sum of the lines of the run. Source: core spec, "Payouts"."""

from fractions import Fraction

import pytest

from tests.support.api.payouts import RUN, URL, owner_session, problem_fields, read_refusal
from tests.support.rows.payroll import Payroll


@pytest.fixture
def payroll(app):
    new_payroll = Payroll.create(app)
    for slug in ("ann", "ben"):
        new_payroll.affiliate(slug)
    return new_payroll


def _post_preview(payroll, **body):
    return owner_session(payroll).post(f"{URL}/preview", body).json


def _build_confirmation(preview, **more):
    return {
        "confirmTotalCents": preview["totalEligibleCents"],
        "confirmTotals": preview["nativeTotalsForRun"],
        "confirmFxRates": preview["fxRunRates"],
        "confirmPayoutTotalUsdCents": preview["payoutTotalUsdCents"],
    } | more


def test_each_line_is_rounded_separately_and_the_total_is_their_sum(payroll):
    payroll.rate("EUR", "0.8")
    # 0.01 EUR are 1.25 US cents: three of them are 3.75, as lines 1 + 1 + 1.
    for _ in range(3):
        payroll.sell("ann", 5, "EUR")

    preview = _post_preview(payroll)
    receipt = owner_session(payroll).post(RUN, _build_confirmation(preview)).json

    assert (preview["usdEstimateAtRunRateCents"], preview["payoutTotalUsdCents"], preview["payoutCount"]) == (3, 3, 1)
    assert receipt["totalCents"] == 3
    assert payroll.lines("amount_cents") == [(1,), (1,), (1,)]


@pytest.mark.parametrize(
    ("currency", "rate"), [("JPY", "151.37"), ("KWD", "0.3071"), ("EUR", "0.913377"), ("USD", "1")]
)
def test_preview_total_equals_the_run_in_every_currency(payroll, currency, rate):
    payroll.rate(currency, rate)
    for slug, amount in (("ann", 12_345), ("ann", 99), ("ben", 70_007)):
        payroll.sell(slug, amount, currency)

    preview = _post_preview(payroll)

    exponent = {"JPY": 0, "KWD": 3}.get(currency, 2)
    per_native = Fraction(100) / (10**exponent * Fraction(rate))
    lines = [round(round(Fraction(amount, 5)) * per_native) for amount in (12_345, 99, 70_007)]
    assert preview["payoutTotalUsdCents"] == sum(lines)
    assert owner_session(payroll).post(RUN, _build_confirmation(preview)).json["totalCents"] == sum(lines)


def test_debt_is_converted_like_its_line(payroll):
    payroll.rate("EUR", "0.8")
    payroll.sell("ann", 10_000, "EUR", externalEventId="first")
    owner_session(payroll).post(RUN, _build_confirmation(_post_preview(payroll)))
    payroll.pay()
    payroll.brand.refund("first", 4_001)
    payroll.sell("ann", 10_003, "EUR")

    preview = _post_preview(payroll)
    receipt = owner_session(payroll).post(RUN, _build_confirmation(preview)).json

    # 20.01 EUR are 25.0125 USD, and 8.00 EUR are held back.
    assert receipt["totalCents"] == preview["payoutTotalUsdCents"] == 2_501 - 1_000


def test_affiliate_with_a_zero_payout_is_not_in_total_or_count(payroll):
    payroll.rate("JPY", "400")
    payroll.sell("ann", 5, "JPY")
    payroll.sell("ben", 10_000)

    preview = _post_preview(payroll)
    receipt = owner_session(payroll).post(RUN, _build_confirmation(preview)).json

    assert (preview["payoutTotalUsdCents"], preview["payoutCount"]) == (2_000, 1)
    assert [payout["amountCents"] for payout in receipt["payouts"]] == [2_000]


def test_affiliate_without_account_is_not_in_the_total(payroll):
    payroll.affiliate("cyd", method=None)
    for slug in ("ann", "ben", "cyd"):
        payroll.sell(slug, 10_000)

    preview = _post_preview(payroll)

    assert (preview["payoutTotalUsdCents"], preview["payoutCount"]) == (4_000, 2)
    amounts = {candidate["affiliateName"]: candidate["payoutUsdCents"] for candidate in preview["candidates"]}
    assert amounts == {"Ann": 2_000, "Ben": 2_000, "Cyd": 0}


def test_preview_obeys_the_filters_of_the_run(payroll):
    payroll.affiliate("cyd", method="Wallet")
    payroll.sell("ann", 10_000)
    payroll.sell("cyd", 20_000)
    cyd = str(payroll.affiliates["cyd"])

    assert _post_preview(payroll, affiliateId=cyd)["payoutTotalUsdCents"] == 4_000
    assert _post_preview(payroll, method="ProcessorConnect")["payoutTotalUsdCents"] == 2_000


def test_preview_can_omit_conversions(payroll):
    payroll.sell("ann", 10_000)
    payroll.sell("ann", 10_000)

    (candidate,) = _post_preview(payroll, listConversions=False)["candidates"]

    assert (candidate["eligibleConversionIds"], candidate["conversionCount"]) == ([], 2)
    assert problem_fields(owner_session(payroll).post(f"{URL}/preview", {"listConversions": "no"})) == {
        "listConversions"
    }


def test_wrong_usd_total_is_refused_with_the_current_one(payroll):
    payroll.rate("EUR", "0.8")
    for _ in range(3):
        payroll.sell("ann", 5, "EUR")
    preview = _post_preview(payroll)

    answer = owner_session(payroll).post(RUN, _build_confirmation(preview, confirmPayoutTotalUsdCents=4))

    assert read_refusal(answer) == (409, "confirm_total_mismatch")
    assert answer.json["payoutTotalUsdCents"] == 3
    assert payroll.payouts() == payroll.lines() == []


def test_every_mismatch_returns_the_current_total(payroll):
    payroll.rate("EUR", "0.8")
    payroll.sell("ann", 10_000, "EUR", externalEventId="first")
    preview = _post_preview(payroll)
    payroll.brand.refund("first", 5_000)

    after_refund = owner_session(payroll).post(RUN, _build_confirmation(preview))
    assert (read_refusal(after_refund), after_refund.json["payoutTotalUsdCents"]) == (
        (409, "confirm_total_mismatch"),
        1_250,
    )
    payroll.rate("EUR", "0.5")
    after_rate_change = owner_session(payroll).post(
        RUN, _build_confirmation(_post_preview(payroll), confirmFxRates=preview["fxRunRates"])
    )
    assert (read_refusal(after_rate_change), after_rate_change.json["payoutTotalUsdCents"]) == (
        (409, "confirm_total_mismatch"),
        2_000,
    )
    assert payroll.payouts() == []


@pytest.mark.parametrize("total", [-1, "2000", 2000.0, True, [], 10**30])
def test_malformed_total_returns_400(payroll, total):
    payroll.sell("ann", 10_000)

    answer = owner_session(payroll).post(RUN, {"confirmTotalCents": 2_000, "confirmPayoutTotalUsdCents": total})

    assert problem_fields(answer) == {"confirmPayoutTotalUsdCents"}
    assert payroll.payouts() == []


def test_methods_are_listed_on_request(payroll):
    for slug, method in (("wal", "Wallet"), ("non", None)):
        payroll.affiliate(slug, method=method)
        payroll.sell(slug, 10_000)

    listed = _post_preview(payroll, listMethods=True)["candidates"]
    assert {candidate["affiliateName"]: candidate["method"] for candidate in listed} == {"Wal": "Wallet", "Non": None}
    assert all("method" not in candidate for candidate in _post_preview(payroll)["candidates"])
    assert problem_fields(owner_session(payroll).post(f"{URL}/preview", {"listMethods": "yes"})) == {"listMethods"}
