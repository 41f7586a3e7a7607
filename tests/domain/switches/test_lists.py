"""Lists whose rows come and go while they are walked (switch-over rules, "Jobs", a list that moves)."""

import random

import pytest

from domain.switches import lists
from domain.switches.lists import ListPosition


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(100, 100, 0), (100, 120, 0), (100, 99, 1), (100, 75, 1), (100, 74, 2), (100, 0, 4)],
)
def test_fall_of_the_total_leads_back_by_whole_pages(before, after, expected):
    position = ListPosition(cursor={"page": 9}, total=before)

    assert lists.count_pages_back(position, moves="by_total", total=after, page_size=25) == expected


def test_only_lists_with_totals_and_pages_before_lead_back():
    position = ListPosition(cursor={"page": 9}, total=100)

    assert lists.count_pages_back(position, moves="unknown", total=50, page_size=25) == 0
    assert lists.count_pages_back(position, moves="stable", total=50, page_size=25) == 0
    assert lists.count_pages_back(position, moves="by_total", total=None, page_size=25) == 0
    assert lists.count_pages_back(ListPosition(total=100), moves="by_total", total=50, page_size=25) == 0
    assert lists.count_pages_back(ListPosition(cursor={"page": 2}), moves="by_total", total=50, page_size=25) == 0


def _walk(position, moves, new_rows):
    ended = lists.after_page(position, moves=moves, next_cursor=None, total=None, new_rows=new_rows)
    return lists.next_walk(ended, moves=moves, is_of_parents=False)


def test_list_without_total_is_walked_until_nothing_is_new():
    second = _walk(ListPosition(), "unknown", 7)
    assert (second.walk, second.cursor, second.new_rows, second.is_done) == (2, None, 0, False)
    assert _walk(second, "unknown", 0) is None
    third = _walk(second, "unknown", 1)
    assert third.walk == 3
    assert _walk(third, "unknown", 1) is None


def test_stable_list_is_requested_once_more_from_its_last_page():
    last_page = ListPosition(cursor={"after": "m6"})
    again = _walk(last_page, "stable", 1)

    assert (again.walk, again.cursor) == (2, {"after": "m6"})
    assert _walk(again, "stable", 1) is None


def test_list_with_totals_is_walked_once():
    assert _walk(ListPosition(), "by_total", 7) is None


def test_list_of_parents_starts_again_at_each_parent():
    position = ListPosition(cursor={"after": "x"}, parent="a1", total=3, is_done=True)

    moved = lists.next_parent(position, "a2")
    assert (moved.parent, moved.cursor, moved.total, moved.is_done) == ("a2", None, None, False)
    assert lists.next_parent(moved, None).is_done


@pytest.mark.parametrize("seed", range(40))
def test_no_row_that_stays_is_missed_whatever_comes_and_goes(seed):
    dice, size = random.Random(seed), 5
    rows = [f"r{number}" for number in range(60)]
    initial, deleted, read, added = set(rows), set(), set(), 0
    position = ListPosition()
    for _ in range(1_000):
        page = (position.cursor or {"page": 1})["page"]
        total = len(rows)
        read.update(rows[(page - 1) * size : page * size])
        back = lists.count_pages_back(position, moves="by_total", total=total, page_size=size)
        next_cursor = {"page": page + 1} if page * size < total else None
        if back:
            stepped = max(1, page - back)
            cursor = {"page": stepped} if stepped > 1 else None
            position = lists.after_step_back(position, cursor=cursor, pages=back, total=total, new_rows=0)
        else:
            position = lists.after_page(position, moves="by_total", next_cursor=next_cursor, total=total, new_rows=0)
            if position.is_done:
                break
        for _ in range(dice.choice([0, 0, 0, 1, 2])):
            if dice.random() < 0.7 and rows:
                deleted.add(rows.pop(dice.randrange(len(rows))))
            else:
                added += 1
                rows.insert(0, f"new{added}")
    assert position.is_done
    assert initial - deleted <= read


def _count_requests(find_total, *, pages, size):
    """Return after how many requests a list of so many pages ends, whatever totals its pages state."""
    position = ListPosition()
    for number in range(1, 100 * pages + 1_000):
        page, total = (position.cursor or {"page": 1})["page"], find_total(number)
        back = lists.count_pages_back(position, moves="by_total", total=total, page_size=size)
        if back:
            stepped = max(1, page - back)
            cursor = {"page": stepped} if stepped > 1 else None
            position = lists.after_step_back(position, cursor=cursor, pages=back, total=total, new_rows=0)
            continue
        next_cursor = {"page": page + 1} if page < pages else None
        position = lists.after_page(position, moves="by_total", next_cursor=next_cursor, total=total, new_rows=0)
        if position.is_done:
            return number
    return None


@pytest.mark.parametrize("seed", range(40))
def test_list_with_random_totals_ends_within_a_bound(seed):
    dice = random.Random(seed)
    pages, size, most = dice.randint(1, 60), dice.randint(1, 20), dice.choice([3, 100, 10_000])
    requests = _count_requests(lambda number: dice.randint(0, most), pages=pages, size=size)

    # Each page back is read once more, and the limit is that of the greatest total.
    assert requests is not None
    assert requests <= pages + 2 * max(lists.MIN_PAGES_BACK, 2 * -(-most // size))


def test_list_whose_total_rises_and_falls_ends():
    requests = _count_requests(lambda number: 60 - number % 2, pages=12, size=5)

    assert requests is not None
    assert requests <= 12 + 2 * lists.MIN_PAGES_BACK


def test_list_by_cursor_begins_again_a_few_times_if_its_cursor_is_refused():
    position, count = ListPosition(cursor={"phase": 1, "after": "p7"}, walk=2, new_rows=4), 0
    while restarted := lists.restart(position, moves="stable"):
        assert (restarted.cursor, restarted.walk, restarted.new_rows) == (None, 2, 4)
        position, count = (
            ListPosition(cursor=position.cursor, walk=2, new_rows=4, pages_back=restarted.pages_back),
            count + 1,
        )

    assert count == lists.MAX_RESTARTS


@pytest.mark.parametrize(
    ("cursor", "moves"),
    [(None, "stable"), ({"phase": 1, "after": None}, "stable"), ({"page": 3}, "stable"), ({"after": "p7"}, "unknown")],
)
def test_list_whose_cursor_names_no_row_does_not_begin_again(cursor, moves):
    assert lists.restart(ListPosition(cursor=cursor), moves=moves) is None
