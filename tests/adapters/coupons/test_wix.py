"""Wix coupons: times in milliseconds, and token renewal."""

from datetime import UTC, datetime


def test_times_are_milliseconds(simulated_rail):
    simulated_rail.mint(simulated_rail.order(expires_at=datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)))
    specification = simulated_rail.books.get_by_code("JANE15")["specification"]
    assert specification["expirationTime"] == "1935817689000"
    assert int(specification["startTime"]) / 1000 <= datetime.now(UTC).timestamp()


def test_rejected_token_is_requested_again(simulated_rail):
    simulated_rail.mint(simulated_rail.order())
    simulated_rail.stage.token = "another"
    assert simulated_rail.mint(simulated_rail.order("OTHER15"))
