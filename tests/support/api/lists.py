"""Checks that apply to every list of the API."""

from collections.abc import Callable, Sequence

from tests.support.running.trips import record_round_trips


def count_round_trips(request: Callable[[], object], *, never: Sequence[bytes] = ()) -> int:
    """Return how many round trips to the database a request makes, without those that prepare a statement.

    Fails if the request returns an error response, or if a statement contains one of the `never` texts.
    """
    with record_round_trips() as queries:
        answer = request()
    assert getattr(answer, "status_code", 200) < 300
    assert [trip for trip in queries if any(text in trip for text in never)] == []
    return len([trip for trip in queries if b"prepare hot_" not in trip])


def assert_foreign_cursors_refused(brand, url, *, foreign, other):
    """Assert that a list accepts its own cursor only. Each of the lists must have at least two rows."""
    own = _cursor(brand, url)
    assert brand.get(f"{url}?cursor={own}").status_code == 200
    flipped = own[:-1] + ("A" if own[-1] != "A" else "B")
    altered = ("A" if own[5] != "A" else "B").join((own[:5], own[6:]))
    for cursor in (
        flipped,
        altered,
        own[:-4],
        own + "AAAA",
        "x",
        "%C3%A9",
        "=" * 8,
        _cursor(*foreign),
        _cursor(*other),
    ):
        answer = brand.get(f"{url}?cursor={cursor}")

        assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), cursor
        assert "cursor" in answer.json["errors"]


def _cursor(brand, url):
    page = brand.get(f"{url}?take=1").json
    assert page["hasMore"] is True
    return page["nextCursor"]
