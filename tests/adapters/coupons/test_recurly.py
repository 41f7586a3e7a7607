"""recurly's coupons, which end with a day of the Pacific coast."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.coupons.base import DiscountNotHeld
from adapters.gateways.base import GatewayRejected
from domain.coupons.discounts import DiscountDuration, DiscountType


@pytest.mark.parametrize(
    ("expires_at", "last"),
    [
        (datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC), "2031-05-04"),
        (datetime(2031, 5, 6, 7, 59, 58, tzinfo=UTC), "2031-05-04"),
        (datetime(2031, 5, 6, 7, 59, 59, tzinfo=UTC), "2031-05-05"),
        (datetime(2031, 5, 6, 23, 0, tzinfo=UTC), "2031-05-05"),
    ],
)
def test_the_last_day_is_over_when_the_code_expires(playing, expires_at, last):
    playing.mint(playing.order(expires_at=expires_at))
    assert playing.books.get_by_code("JANE15")["redeem_by_date"] == last


def test_a_code_that_would_end_before_today_does_is_refused(playing):
    soon = datetime.now(UTC) + timedelta(seconds=5)  # of the same day there: no test begins that late in an hour
    with pytest.raises(DiscountNotHeld, match="before today"):
        playing.mint(playing.order(expires_at=soon))
    assert playing.books.rows == []


def test_months_and_amounts_in_its_words(playing):
    terms = {"type": DiscountType.AmountOff, "value": 1_050, "currency": "EUR"}
    playing.mint(playing.order(duration=DiscountDuration.Repeating, months=3, **terms))
    told = playing.books.get_by_code("JANE15")
    assert (told["duration"], told["temporal_unit"], told["temporal_amount"]) == ("temporal", "month", 3)
    assert told["currencies"] == [{"currency": "EUR", "discount": 10.5}]
    assert (told["coupon_type"], told["applies_to_all_plans"]) == ("single_code", True)


def test_what_it_says_no_to_is_said_in_its_words(playing, monkeypatch):
    answer = playing.books.answer
    no = (422, {"error": {"type": "validation", "message": "Duration is invalid", "params": [{"param": "duration"}]}})
    monkeypatch.setattr(playing.books, "answer", lambda asked: no if asked.method == "POST" else answer(asked))
    with pytest.raises(GatewayRejected, match="Duration is invalid"):
        playing.mint(playing.order())
