"""Payouts in weak currencies: a sum below one US cent is not payable, and preview and run show one total.

Source: core spec, "Payouts" (preview response fields, run).
"""

import pytest

from tests.support.api.payouts import RUN, URL, owner_session, read_refusal
from tests.support.rows.payroll import Payroll

_DONG_PER_USD = "25400"


@pytest.fixture
def payroll(app):
    new_payroll = Payroll.create(app)
    new_payroll.rate("VND", _DONG_PER_USD)
    new_payroll.rate("KWD", "0.3")
    for slug in ("ann", "ben"):
        new_payroll.affiliate(slug)
    return new_payroll


def _post_preview(payroll):
    answer = owner_session(payroll).post(f"{URL}/preview")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json


def _blocked_reasons(preview):
    return {
        (candidate["affiliateName"], candidate["currency"]): candidate["blockedReason"]
        for candidate in preview["candidates"]
    }


def _sell_dong(payroll, slug, count):
    """Sell so that the affiliate earns 1 VND, 0.004 US cents, each time."""
    for _ in range(count):
        payroll.sell(slug, 5, "VND")


def test_sixty_commissions_of_one_dong_are_not_payout_ready(payroll):
    _sell_dong(payroll, "ann", 60)

    preview = _post_preview(payroll)

    (candidate,) = preview["candidates"]
    assert (candidate["eligibleCents"], candidate["conversionCount"], candidate["payoutUsdCents"]) == (60, 60, 0)
    assert (candidate["payoutReady"], candidate["blockedReason"]) == (False, "below_one_cent")
    assert (preview["totalEligibleCents"], preview["nativeTotalsForRun"]) == (0, {})
    assert (preview["payoutTotalUsdCents"], preview["usdEstimateAtRunRateCents"], preview["payoutCount"]) == (0, 0, 0)
    assert preview["eligibleByCurrency"] == {"VND": 60}


def test_run_over_amounts_below_one_cent_is_refused_and_writes_nothing(payroll):
    _sell_dong(payroll, "ann", 3)

    assert read_refusal(owner_session(payroll).post(RUN, {"confirmTotalCents": 0})) == (409, "nothing_to_pay")
    assert read_refusal(owner_session(payroll).post(RUN, {"confirmTotalCents": 3})) == (409, "confirm_total_mismatch")
    assert payroll.payouts() == payroll.lines() == []


def test_confirmed_total_leaves_out_the_affiliate_below_one_cent(payroll):
    _sell_dong(payroll, "ann", 3)
    payroll.sell("ben", 10_000)

    preview = _post_preview(payroll)
    receipt = owner_session(payroll).post(RUN, {"confirmTotalCents": preview["totalEligibleCents"]}).json

    assert _blocked_reasons(preview) == {("Ann", "VND"): "below_one_cent", ("Ben", "USD"): None}
    assert (preview["totalEligibleCents"], preview["nativeTotalsForRun"]) == (2_000, {"USD": 2_000})
    assert (receipt["totalCents"], receipt["nativeTotalsForRun"]) == (2_000, {"USD": 2_000})
    assert payroll.lines("native_currency, amount_cents") == [("USD", 2_000)]


def test_weak_currency_is_paid_together_with_another_one_of_the_affiliate(payroll):
    _sell_dong(payroll, "ann", 2)
    payroll.sell("ann", 10_000)

    preview = _post_preview(payroll)
    receipt = owner_session(payroll).post(RUN, {"confirmTotalCents": preview["totalEligibleCents"]}).json

    assert _blocked_reasons(preview) == {("Ann", "USD"): None, ("Ann", "VND"): None}
    assert preview["nativeTotalsForRun"] == {"USD": 2_000, "VND": 2}
    assert receipt["totalCents"] == preview["payoutTotalUsdCents"] == 2_000
    assert sorted(payroll.lines("native_currency, amount_cents")) == [("USD", 2_000), ("VND", 0), ("VND", 0)]


@pytest.mark.parametrize(("currency", "below", "enough"), [("KWD", 5, 10), ("VND", 635, 640)])
def test_first_line_that_rounds_to_a_cent_makes_the_affiliate_ready(payroll, currency, below, enough):
    # 1 fils is 0.33 cents and 2 are 0.67; 127 dong are exactly half a cent, which is rounded to 0, and 128 are more.
    payroll.sell("ann", below, currency)
    assert _blocked_reasons(_post_preview(payroll)) == {("Ann", currency): "below_one_cent"}

    payroll.sell("ann", enough, currency)

    preview = _post_preview(payroll)
    assert _blocked_reasons(preview) == {("Ann", currency): None}
    assert preview["payoutTotalUsdCents"] == 1
    assert payroll.run().total_cents == 1
