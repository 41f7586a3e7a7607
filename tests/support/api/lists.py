"""What the tests of every list ask."""

from collections.abc import Callable, Sequence

from tests.support.running.trips import record_round_trips


def count_round_trips(request: Callable[[], object], *, never: Sequence[bytes] = ()) -> int:
    """Return how many round trips to the database a request makes; preparing a statement is done once, so not these.

    Its answer, where it returns one, is no refusal, and none of its statements may hold what is `never` asked.
    """
    with record_round_trips() as queries:
        answer = request()
    assert getattr(answer, "status_code", 200) < 300
    assert [trip for trip in queries if any(words in trip for words in never)] == []
    return len([trip for trip in queries if b"prepare hot_" not in trip])


def assert_foreign_cursors_refused(brand, url, *, foreign, other):
    """Assert that a list takes its own cursor and no other; every list has two rows at least."""
    own = _cursor(brand, url)
    assert brand.get(f"{url}?cursor={own}").status_code == 200
    flipped = own[:-1] + ("A" if own[-1] != "A" else "B")
    moved = ("A" if own[5] != "A" else "B").join((own[:5], own[6:]))
    for cursor in (flipped, moved, own[:-4], own + "AAAA", "x", "%C3%A9", "=" * 8, _cursor(*foreign), _cursor(*other)):
        answer = brand.get(f"{url}?cursor={cursor}")

        assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), cursor
        assert "cursor" in answer.json["errors"]


def _cursor(brand, url):
    page = brand.get(f"{url}?take=1").json
    assert page["hasMore"] is True
    return page["nextCursor"]
