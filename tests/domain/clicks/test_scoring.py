"""Scoring of clicks in two steps. Source: core spec, "Click and lead fraud review"."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from domain.clicks import scoring
from domain.clicks.history import ClickHistory
from domain.clicks.raw_click import RawClick

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _click(number, minutes=0.0, **fields):
    values = {
        "id": f"{number:04}", "organization_id": "o", "program_id": "p", "affiliate_id": "a", "slug": "ben",
        "sub_id": None, "occurred_at": (NOON + timedelta(minutes=minutes)).isoformat(), "visitor": f"v{number}",
        "network": f"n{number}", "agent": "Firefox",
    }  # fmt: skip
    return RawClick(**values | fields)


def _random_clicks(rng, count):
    """Return clicks of few visitors and networks on few links within three hours."""
    clicks = []
    for number in range(count):
        slug, affiliate_id = rng.choice([("ben", "a"), ("ben2", "a"), ("cleo", "b")])
        origin = {"visitor": f"v{rng.randrange(12)}", "network": f"n{rng.randrange(6)}"}
        clicks.append(_click(number, rng.uniform(0, 180), slug=slug, affiliate_id=affiliate_id, **origin))
    return clicks


def _random_histories(rng):
    """Return two equal histories of some of the visitors and networks."""
    histories = ClickHistory(), ClickHistory()
    for number in range(0, 12, 3):
        last = NOON + timedelta(minutes=rng.uniform(-90, 200))
        near = (last - timedelta(minutes=rng.uniform(0, 80)), last) if rng.random() < 0.7 else (None, None)
        for history in histories:
            history.add_visits(
                visitor=f"v{number}", program_id="p", affiliate_id="a", slug="ben", last_at=last, near_first=near[0],
                near_last=near[1],
            )  # fmt: skip
    times = [NOON + timedelta(minutes=rng.uniform(-60, 240)) for _ in range(30)]
    for history in histories:
        history.add_network(network="n1", program_id="p", slug="ben", times=times)
    return histories


@pytest.mark.parametrize("seed", range(20))
def test_rescored_batch_equals_clicks_scored_one_by_one(seed):
    rng = random.Random(seed)  # the same clicks on every run
    clicks = _random_clicks(rng, 120)
    history, second_history = _random_histories(rng)

    batch = scoring.rescore(scoring.score_batch(clicks), history, frozenset())

    expected = [second_history.add_click(scored.click, scored.at) for scored in batch]
    assert [(scored.facts, scored.is_duplicate) for scored in batch] == expected
    assert any(scored.is_duplicate for scored in batch)
    assert not all(scored.is_duplicate for scored in batch)


def test_each_click_is_scored_once_in_time_order():
    late, early = _click(1, 5, visitor="v"), _click(2, visitor="v")

    batch = scoring.score_batch([late, early, late])

    assert [(scored.click, scored.is_duplicate) for scored in batch] == [(early, False), (late, True)]


def test_banned_referrer_scores_a_click_without_history():
    (scored,) = scoring.score_batch([_click(1, referrer_host="shop.deals.example")])

    (rescored,) = scoring.rescore([scored], ClickHistory(), frozenset({"deals.example"}))

    assert scored.verdict.reasons == ()
    assert rescored.verdict.reasons == ("banned_referrer",)


@pytest.mark.parametrize("text", ["soon", "2026-03-01T12:00:00"])
def test_invalid_time_or_time_without_a_zone_is_refused(text):
    with pytest.raises(ValueError, match=r"Invalid isoformat|time zone"):
        scoring.score_batch([_click(1, occurred_at=text)])
