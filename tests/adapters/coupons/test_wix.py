"""wix's coupons: times in milliseconds, a token that is asked for anew."""

from datetime import UTC, datetime


def test_times_are_milliseconds(playing):
    playing.mint(playing.order(expires_at=datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)))
    told = playing.books.get_by_code("JANE15")["specification"]
    assert told["expirationTime"] == "1935817689000"
    assert int(told["startTime"]) / 1000 <= datetime.now(UTC).timestamp()


def test_a_token_that_is_refused_is_asked_for_anew(playing):
    playing.mint(playing.order())
    playing.stage.token = "another"
    assert playing.mint(playing.order("OTHER15"))
