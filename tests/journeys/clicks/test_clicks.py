"""From a batch of clicks to what is stored and what is a duplicate.

Source: core spec, "Click and lead fraud review".
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.rows.click_rows import (
    AGENT,
    build_click,
    consume_stream,
    hash_text,
    list_aggregates,
    list_event_data,
    list_outcomes,
    minutes_after_hour,
    sum_ledger,
    write,
    write_on_own_connection,
)


def test_a_click_is_stored_with_what_is_known_of_it(brand):
    brand.program()
    click = build_click(
        brand, brand.affiliate("ben"), visitor="v", network="n", sub_id="mail", at=minutes_after_hour(0)
    )

    written = write(brand, click)

    assert (written.new, written.duplicates) == (1, 0)
    assert brand.rows(
        "select id::text, slug, sub_id, encode(visitor_hash, 'hex'), encode(network_hash, 'hex'), occurred_at,"
        " is_duplicate, score, reasons, outcome, conversion_id from click"
    ) == [
        (
            click.id,
            "ben",
            "mail",
            hash_text("v"),
            hash_text("n"),
            minutes_after_hour(0),
            False,
            0,
            None,
            "recorded",
            None,
        )
    ]


def test_a_click_that_a_page_tells_is_written_as_it_was_answered(paying):
    ben = paying.affiliate("told")

    answer = paying.app.test_client().post(
        "/api/v1/track/click",
        json={"slug": "told", "programId": str(paying.programs[-1])},
        headers={"User-Agent": AGENT},
    )
    consume_stream()

    rows = paying.rows("select id::text, affiliate_id, slug, outcome, visitor_hash is not null from click")
    assert rows == [(answer.json["clickId"], ben, "told", "earned", True)]


def test_a_click_in_a_program_that_pays_for_none_earns_nothing(brand):
    brand.program()

    write(brand, build_click(brand, brand.affiliate("ben")))

    assert brand.rows("select count(*) from conversion") == [(0,)]


def test_a_batch_that_comes_twice_changes_nothing(paying, ben):
    batch = [build_click(paying, ben, at=minutes_after_hour(n)) for n in range(3)]

    first, again = write(paying, *batch), write(paying, *batch)

    assert (first.new, again.new) == (3, 0)
    assert [row[1] for row in list_aggregates(paying)] == [30]
    assert sum_ledger(paying) == [("earn", 30, 1)]
    assert len(list_event_data(paying, "conversion.created")) == 1


def test_a_click_that_is_in_a_batch_twice_is_written_once(paying, ben):
    click = build_click(paying, ben)

    assert write(paying, click, click).new == 1
    assert [row[1] for row in list_aggregates(paying)] == [10]


def test_of_a_batch_that_is_known_in_part_the_rest_is_written(paying, ben):
    batch = [build_click(paying, ben, at=minutes_after_hour(n)) for n in range(4)]
    write(paying, *batch[:2])

    assert write(paying, *batch).new == 2
    assert [row[1] for row in list_aggregates(paying)] == [40]


def test_clicks_of_two_organizations_are_no_batch(paying, rival, ben):
    rival.program()
    foreign = build_click(rival, rival.affiliate("ben"))

    with pytest.raises(ValueError, match="one organization"):
        write(paying, build_click(paying, ben), foreign)


@pytest.mark.parametrize(
    "fields", [{"occurred_at": "2026-03-01T12:00:00"}, {"occurred_at": "x"}, {"organization_id": "x"}]
)
def test_a_time_or_an_id_that_is_none_is_refused(paying, ben, fields):
    with pytest.raises(ValueError, match=r"zone|isoformat|hexadecimal"):
        write(paying, build_click(paying, ben, **fields))


@pytest.mark.parametrize(
    ("minutes", "expected"), [(0, "duplicate"), (59.9, "duplicate"), (60, "earned"), (90, "earned")]
)
@pytest.mark.parametrize("apart", [True, False], ids=["two batches", "one batch"])
def test_the_same_visitor_on_the_same_link_within_an_hour_is_a_duplicate(paying, ben, minutes, expected, apart):
    batch = [
        build_click(paying, ben, visitor="v", at=minutes_after_hour(0)),
        build_click(paying, ben, visitor="v", at=minutes_after_hour(minutes)),
    ]

    for part in [[one] for one in batch] if apart else [batch]:
        write(paying, *part)

    assert sorted(list_outcomes(paying, batch)) == sorted(["earned", expected])
    assert paying.rows("select count(*) from click where is_duplicate") == [(int(expected == "duplicate"),)]


def test_a_chain_of_clicks_stays_a_duplicate_of_the_one_before(paying, ben):
    batch = [build_click(paying, ben, visitor="v", at=minutes_after_hour(50 * n)) for n in range(4)]

    write(paying, *batch)

    assert list_outcomes(paying, batch) == ["earned", "duplicate", "duplicate", "duplicate"]


def test_an_earlier_click_that_is_written_later_is_the_duplicate(paying, ben):
    early, late = (
        build_click(paying, ben, visitor="v", at=minutes_after_hour(0)),
        build_click(paying, ben, visitor="v", at=minutes_after_hour(30)),
    )

    write(paying, late)
    write(paying, early)

    assert list_outcomes(paying, [early, late]) == ["duplicate", "earned"]


def test_a_click_that_is_written_late_is_no_duplicate_of_those_hours_away(paying, ben):
    write(paying, *[build_click(paying, ben, visitor="v", at=minutes_after_hour(minutes)) for minutes in (0, 360)])
    late = build_click(paying, ben, visitor="v", at=minutes_after_hour(180))
    later = build_click(paying, ben, visitor="v", at=minutes_after_hour(301))

    write(paying, late)
    write(paying, later)

    assert list_outcomes(paying, [late, later]) == ["earned", "duplicate"]


def test_another_visitor_another_link_and_another_program_are_no_duplicates(paying, ben):
    first = paying.programs[-1]
    paying.program(click_reward_cents=10)
    other = paying.affiliate("ben-too")
    batch = [
        build_click(paying, ben, program_id=str(first), visitor="v", at=minutes_after_hour(0)),
        build_click(paying, ben, program_id=str(first), visitor="w", at=minutes_after_hour(1)),
        build_click(paying, ben, program_id=str(first), visitor="v", slug="ben-2", at=minutes_after_hour(2)),
        build_click(paying, other, visitor="v", at=minutes_after_hour(3)),
    ]

    write(paying, *batch)

    assert list_outcomes(paying, batch) == ["earned"] * 4


def test_another_organizations_visitor_is_nobodys_duplicate(paying, rival, ben):
    rival.program(click_reward_cents=10)
    foreign = build_click(rival, rival.affiliate("ben"), visitor="v")
    write(rival, foreign)
    own = build_click(paying, ben, visitor="v")

    write(paying, own)

    assert list_outcomes(paying, [own]) == ["earned"]


def test_two_writers_at_once_find_one_duplicate_between_them(app, paying, ben):
    batch = [build_click(paying, ben, visitor="v", at=minutes_after_hour(n)) for n in range(8)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda click: write_on_own_connection(paying, click), batch))

    assert sorted(list_outcomes(paying, batch)) == ["duplicate"] * 7 + ["earned"]
