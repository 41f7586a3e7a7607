"""How a batch of clicks is stored, and which clicks are duplicates.

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


def test_click_is_stored_with_all_its_details(brand):
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


def test_click_from_a_page_is_stored_under_its_answered_id(click_brand):
    ben = click_brand.affiliate("told")

    answer = click_brand.app.test_client().post(
        "/api/v1/track/click",
        json={"slug": "told", "programId": str(click_brand.programs[-1])},
        headers={"User-Agent": AGENT},
    )
    consume_stream()

    rows = click_brand.rows("select id::text, affiliate_id, slug, outcome, visitor_hash is not null from click")
    assert rows == [(answer.json["clickId"], ben, "told", "earned", True)]


def test_click_in_a_program_without_click_pay_earns_nothing(brand):
    brand.program()

    write(brand, build_click(brand, brand.affiliate("ben")))

    assert brand.rows("select count(*) from conversion") == [(0,)]


def test_repeated_batch_changes_nothing(click_brand, ben):
    batch = [build_click(click_brand, ben, at=minutes_after_hour(n)) for n in range(3)]

    first, repeated = write(click_brand, *batch), write(click_brand, *batch)

    assert (first.new, repeated.new) == (3, 0)
    assert [row[1] for row in list_aggregates(click_brand)] == [30]
    assert sum_ledger(click_brand) == [("earn", 30, 1)]
    assert len(list_event_data(click_brand, "conversion.created")) == 1


def test_click_twice_in_a_batch_is_stored_once(click_brand, ben):
    click = build_click(click_brand, ben)

    assert write(click_brand, click, click).new == 1
    assert [row[1] for row in list_aggregates(click_brand)] == [10]


def test_partly_known_batch_stores_the_rest(click_brand, ben):
    batch = [build_click(click_brand, ben, at=minutes_after_hour(n)) for n in range(4)]
    write(click_brand, *batch[:2])

    assert write(click_brand, *batch).new == 2
    assert [row[1] for row in list_aggregates(click_brand)] == [40]


def test_batch_of_two_organizations_raises_value_error(click_brand, rival, ben):
    rival.program()
    foreign = build_click(rival, rival.affiliate("ben"))

    with pytest.raises(ValueError, match="one organization"):
        write(click_brand, build_click(click_brand, ben), foreign)


@pytest.mark.parametrize(
    "fields", [{"occurred_at": "2026-03-01T12:00:00"}, {"occurred_at": "x"}, {"organization_id": "x"}]
)
def test_malformed_time_or_id_raises_value_error(click_brand, ben, fields):
    with pytest.raises(ValueError, match=r"zone|isoformat|hexadecimal"):
        write(click_brand, build_click(click_brand, ben, **fields))


@pytest.mark.parametrize(
    ("minutes", "expected"), [(0, "duplicate"), (59.9, "duplicate"), (60, "earned"), (90, "earned")]
)
@pytest.mark.parametrize("apart", [True, False], ids=["two batches", "one batch"])
def test_same_visitor_on_a_link_within_an_hour_is_a_duplicate(click_brand, ben, minutes, expected, apart):
    batch = [
        build_click(click_brand, ben, visitor="v", at=minutes_after_hour(0)),
        build_click(click_brand, ben, visitor="v", at=minutes_after_hour(minutes)),
    ]

    for part in [[click] for click in batch] if apart else [batch]:
        write(click_brand, *part)

    assert sorted(list_outcomes(click_brand, batch)) == sorted(["earned", expected])
    assert click_brand.rows("select count(*) from click where is_duplicate") == [(int(expected == "duplicate"),)]


def test_click_within_an_hour_of_a_duplicate_is_a_duplicate(click_brand, ben):
    batch = [build_click(click_brand, ben, visitor="v", at=minutes_after_hour(50 * n)) for n in range(4)]

    write(click_brand, *batch)

    assert list_outcomes(click_brand, batch) == ["earned", "duplicate", "duplicate", "duplicate"]


def test_earlier_click_stored_later_is_the_duplicate(click_brand, ben):
    early_click, late_click = (
        build_click(click_brand, ben, visitor="v", at=minutes_after_hour(0)),
        build_click(click_brand, ben, visitor="v", at=minutes_after_hour(30)),
    )

    write(click_brand, late_click)
    write(click_brand, early_click)

    assert list_outcomes(click_brand, [early_click, late_click]) == ["duplicate", "earned"]


def test_late_stored_click_is_not_a_duplicate_of_clicks_hours_apart(click_brand, ben):
    write(
        click_brand,
        *[build_click(click_brand, ben, visitor="v", at=minutes_after_hour(minutes)) for minutes in (0, 360)],
    )
    late_click = build_click(click_brand, ben, visitor="v", at=minutes_after_hour(180))
    later = build_click(click_brand, ben, visitor="v", at=minutes_after_hour(301))

    write(click_brand, late_click)
    write(click_brand, later)

    assert list_outcomes(click_brand, [late_click, later]) == ["earned", "duplicate"]


def test_other_visitor_link_or_program_is_not_a_duplicate(click_brand, ben):
    first = click_brand.programs[-1]
    click_brand.program(click_reward_cents=10)
    other = click_brand.affiliate("ben-too")
    batch = [
        build_click(click_brand, ben, program_id=str(first), visitor="v", at=minutes_after_hour(0)),
        build_click(click_brand, ben, program_id=str(first), visitor="w", at=minutes_after_hour(1)),
        build_click(click_brand, ben, program_id=str(first), visitor="v", slug="ben-2", at=minutes_after_hour(2)),
        build_click(click_brand, other, visitor="v", at=minutes_after_hour(3)),
    ]

    write(click_brand, *batch)

    assert list_outcomes(click_brand, batch) == ["earned"] * 4


def test_same_visitor_of_another_tenant_is_not_a_duplicate(click_brand, rival, ben):
    rival.program(click_reward_cents=10)
    foreign = build_click(rival, rival.affiliate("ben"), visitor="v")
    write(rival, foreign)
    own_click = build_click(click_brand, ben, visitor="v")

    write(click_brand, own_click)

    assert list_outcomes(click_brand, [own_click]) == ["earned"]


def test_concurrent_writers_keep_exactly_one_of_the_duplicates(app, click_brand, ben):
    batch = [build_click(click_brand, ben, visitor="v", at=minutes_after_hour(n)) for n in range(8)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda click: write_on_own_connection(click_brand, click), batch))

    assert sorted(list_outcomes(click_brand, batch)) == ["duplicate"] * 7 + ["earned"]
