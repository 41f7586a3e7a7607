"""Recurly coupons, whose last day is a day in Pacific time."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.coupons.base import DiscountUnsupported
from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountDuration, DiscountType


@pytest.mark.parametrize(
    ("expires_at", "last_day"),
    [
        (datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC), "2031-05-04"),
        (datetime(2031, 5, 6, 7, 59, 58, tzinfo=UTC), "2031-05-04"),
        (datetime(2031, 5, 6, 7, 59, 59, tzinfo=UTC), "2031-05-05"),
        (datetime(2031, 5, 6, 23, 0, tzinfo=UTC), "2031-05-05"),
    ],
)
def test_last_day_ends_before_the_code_expires(simulated_rail, expires_at, last_day):
    simulated_rail.mint(simulated_rail.order(expires_at=expires_at))
    assert simulated_rail.books.get_by_code("JANE15")["redeem_by_date"] == last_day


def test_expiry_before_the_end_of_today_is_refused(simulated_rail):
    soon = datetime.now(UTC) + timedelta(seconds=5)  # still the same Pacific day: no test starts that late in an hour
    with pytest.raises(DiscountUnsupported, match="before today"):
        simulated_rail.mint(simulated_rail.order(expires_at=soon))
    assert simulated_rail.books.rows == []


def test_months_and_amounts_are_sent_in_recurlys_format(simulated_rail):
    terms = {"type": DiscountType.AmountOff, "value": 1_050, "currency": "EUR"}
    simulated_rail.mint(simulated_rail.order(duration=DiscountDuration.Repeating, months=3, **terms))
    coupon = simulated_rail.books.get_by_code("JANE15")
    assert (coupon["duration"], coupon["temporal_unit"], coupon["temporal_amount"]) == ("temporal", "month", 3)
    assert coupon["currencies"] == [{"currency": "EUR", "discount": 10.5}]
    assert (coupon["coupon_type"], coupon["applies_to_all_plans"]) == ("single_code", True)


def test_rejection_message_of_recurly_is_passed_on(simulated_rail, monkeypatch):
    answer = simulated_rail.books.answer
    rejection = (
        422,
        {"error": {"type": "validation", "message": "Duration is invalid", "params": [{"param": "duration"}]}},
    )
    monkeypatch.setattr(
        simulated_rail.books, "answer", lambda request: rejection if request.method == "POST" else answer(request)
    )
    with pytest.raises(GatewayRejected, match="Duration is invalid"):
        simulated_rail.mint(simulated_rail.order())
