"""Clicks judged in two steps. Source: core spec, "Click and lead fraud review"."""

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


def _crowd(chance, count):
    """Make clicks of few visitors and networks on few links within three hours."""
    found = []
    for number in range(count):
        slug, affiliate_id = chance.choice([("ben", "a"), ("ben2", "a"), ("cleo", "b")])
        who = {"visitor": f"v{chance.randrange(12)}", "network": f"n{chance.randrange(6)}"}
        found.append(_click(number, chance.uniform(0, 180), slug=slug, affiliate_id=affiliate_id, **who))
    return found


def _past(chance):
    """Make what is known of some of the visitors and networks, twice the same."""
    both = ClickHistory(), ClickHistory()
    for number in range(0, 12, 3):
        last = NOON + timedelta(minutes=chance.uniform(-90, 200))
        near = (last - timedelta(minutes=chance.uniform(0, 80)), last) if chance.random() < 0.7 else (None, None)
        for history in both:
            history.add_visits(
                visitor=f"v{number}", program_id="p", affiliate_id="a", slug="ben", last_at=last, near_first=near[0],
                near_last=near[1],
            )  # fmt: skip
    moments = [NOON + timedelta(minutes=chance.uniform(-60, 240)) for _ in range(30)]
    for history in both:
        history.add_network(network="n1", program_id="p", slug="ben", times=moments)
    return both


@pytest.mark.parametrize("seed", range(20))
def test_the_past_on_top_says_what_it_says_of_each_click_in_turn(seed):
    chance = random.Random(seed)  # a crowd that is the same every time
    crowd = _crowd(chance, 120)
    past, same_past = _past(chance)

    found = scoring.rescore(scoring.score_batch(crowd), past, frozenset())

    in_turn = [same_past.add_click(one.click, one.at) for one in found]
    assert [(one.facts, one.is_duplicate) for one in found] == in_turn
    assert any(one.is_duplicate for one in found)
    assert not all(one.is_duplicate for one in found)


def test_clicks_are_judged_once_each_in_the_order_of_time():
    late, early = _click(1, 5, visitor="v"), _click(2, visitor="v")

    found = scoring.score_batch([late, early, late])

    assert [(one.click, one.is_duplicate) for one in found] == [(early, False), (late, True)]


def test_hosts_that_the_brand_banned_count_for_clicks_of_which_nothing_is_known():
    (alone,) = scoring.score_batch([_click(1, referrer_host="shop.deals.example")])

    (found,) = scoring.rescore([alone], ClickHistory(), frozenset({"deals.example"}))

    assert alone.verdict.reasons == ()
    assert found.verdict.reasons == ("banned_referrer",)


@pytest.mark.parametrize("written", ["soon", "2026-03-01T12:00:00"])
def test_what_is_no_moment_with_its_zone_is_refused(written):
    with pytest.raises(ValueError, match=r"Invalid isoformat|time zone"):
        scoring.score_batch([_click(1, occurred_at=written)])
