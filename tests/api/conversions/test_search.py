"""Search and sort order of the list and the export of conversions, through HTTP."""

import csv
import functools
import io
from datetime import timedelta
from itertools import pairwise

import pytest

from models import db
from models.conversions import lists, searches
from tests.support.api.lists import count_round_trips
from tests.support.rows.program_rows import insert_conversion, time_ago
from tests.support.running.hours import start_of_test

URL = "/api/v1/conversions"


@pytest.fixture
def people(brand):
    """Return the conversion ids by slug of affiliates Ada Ek and Adam Olt, two each."""
    brand.program()
    ids_by_slug = {}
    for slug, name in (("ada", "Ada Ek"), ("adam", "Adam Olt")):
        affiliate_id = brand.affiliate(slug, full_name=name)
        ids_by_slug[slug] = [
            str(
                insert_conversion(
                    brand, affiliate_id, external_event_id=f"{slug}-{number}", created_at=time_ago(hours=9 - number)
                )
            )
            for number in range(2)
        ]
    return ids_by_slug


def _ids(answer):
    assert answer.status_code == 200, answer.data
    return [item["id"] for item in answer.json["items"]]


@pytest.mark.parametrize("q", ["Ada Ek", "ada ek", "ADA E", " ada e ", "ada@example.com", "ADA@", "da Ek", "EK"])
def test_query_matches_part_of_the_affiliates_name_or_email(brand, people, q):
    assert _ids(brand.get(f"{URL}?q={q}")) == people["ada"][::-1]


def test_matches_of_several_affiliates_are_in_one_order(brand, people):
    (a1, a2), (b1, b2) = people["ada"], people["adam"]

    assert _ids(brand.get(f"{URL}?q=ada&take=4")) == [b2, a2, b1, a1]


def test_query_matches_a_conversions_id_or_external_id(brand, people):
    conversion_id = people["adam"][1]

    assert _ids(brand.get(f"{URL}?q=adam-1")) == [conversion_id]
    assert _ids(brand.get(f"{URL}?q={conversion_id}")) == [conversion_id]
    assert _ids(brand.get(f"{URL}?q={conversion_id.upper()}")) == [conversion_id]


def test_external_id_of_several_sources_matches_all_of_them(brand, people):
    affiliate_id = brand.affiliate("zoe")
    ids = {
        str(insert_conversion(brand, affiliate_id, source=source, external_event_id="same"))
        for source in ("s2s", "import")
    }

    assert set(_ids(brand.get(f"{URL}?q=same"))) == ids


@pytest.mark.parametrize("q", ["adam-", "nobody", "%25", "a_a", "\\", "ad%25", "Ω", "é"])
def test_query_without_match_returns_an_empty_list(brand, people, q):
    assert _ids(brand.get(f"{URL}?q={q}")) == []


def test_query_matching_many_affiliates_returns_the_newest(brand, people, monkeypatch):
    narrow = _ids(brand.get(f"{URL}?q=ada&take=3"))
    monkeypatch.setattr(searches, "_MAX_LOOKUPS", 1)
    monkeypatch.setattr(lists, "_rendered_list", functools.cache(lists._rendered_list.__wrapped__))

    (a1, a2), (b1, b2) = people["ada"], people["adam"]
    first = brand.get(f"{URL}?q=ada&take=3")
    second = brand.get(f"{URL}?q=ada&take=3&cursor={first.json['nextCursor']}")
    assert _ids(first) == narrow == [b2, a2, b1]
    assert _ids(second) == [a1]
    assert _ids(brand.get(f"{URL}?q=ada-0")) == [a1]


def test_search_stays_within_its_tenant(brand, rival, people):
    rival.program()
    rival.affiliate("ada", full_name="Ada Ek")

    for q in ("ada", "ada-1", people["ada"][0]):
        assert _ids(rival.get(f"{URL}?q={q}")) == []


def test_search_and_filters_combine_on_every_page(brand, people):
    affiliate_id = brand.affiliate("adela")
    paid = [
        str(insert_conversion(brand, affiliate_id, status="Paid", created_at=time_ago(minutes=9 - n))) for n in range(3)
    ]
    query = f"{URL}?q=ad&status=Paid&take=2"

    first = brand.get(query)
    second = brand.get(f"{query}&cursor={first.json['nextCursor']}")

    assert _ids(first) + _ids(second) == paid[::-1]
    assert second.json["hasMore"] is False


def test_blank_search_is_ignored(brand, people):
    assert len(_ids(brand.get(f"{URL}?q=%20"))) == 4
    assert len(_ids(brand.get(f"{URL}?q="))) == 4


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("q=%00", "q"),
        (f"q={'x' * 513}", "q"),
        ("until=soon", "until"),
        ("sort=amount", "sort"),
        ("sort=", "sort"),
        ("sort=payable", "sort"),
        ("sort=payable&status=Paid", "sort"),
    ],
)
@pytest.mark.parametrize("path", [URL, f"{URL}/export.csv"])
def test_invalid_search_is_refused(brand, path, query, field):
    answer = brand.get(f"{path}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]


def test_until_is_exclusive(brand, people):
    until = time_ago(hours=8).isoformat().replace("+00:00", "Z")

    assert set(_ids(brand.get(f"{URL}?until={until}"))) == {people["ada"][0], people["adam"][0]}


def test_sort_oldest_lists_oldest_first(brand, people):
    newest = _ids(brand.get(f"{URL}?sort=newest"))
    first = brand.get(f"{URL}?sort=oldest&take=3")
    second = brand.get(f"{URL}?sort=oldest&take=3&cursor={first.json['nextCursor']}")

    assert newest == _ids(brand.get(URL))
    assert _ids(first) + _ids(second) == newest[::-1]


def test_sort_by_payable_date_lists_next_payable_first(brand, people):
    affiliate_id = brand.affiliate("zoe")
    ids = [
        str(
            insert_conversion(
                brand,
                affiliate_id,
                hold_until=start_of_test() + timedelta(days=days),
                created_at=time_ago(hours=days),
            )
        )
        for days in (5, 1, 3)
    ]
    insert_conversion(brand, affiliate_id, hold_until=time_ago(days=9), status="Approved")
    query = f"{URL}?sort=payable&status=Pending&take=2"

    first = brand.get(query)
    second = brand.get(f"{query}&cursor={first.json['nextCursor']}")
    moments = [item["payableAt"] for page in (first, second) for item in page.json["items"]]

    assert (_ids(first) + _ids(second))[:3] == [ids[1], ids[2], ids[0]]
    assert all(before <= after for before, after in pairwise(moments))
    assert _ids(brand.get(f"{query}&q=zoe")) == [ids[1], ids[2]]


def test_cursor_of_another_order_is_refused(brand, people):
    cursor = brand.get(f"{URL}?take=1&status=Pending").json["nextCursor"]

    for order in ("oldest", "payable"):
        answer = brand.get(f"{URL}?take=1&status=Pending&sort={order}&cursor={cursor}")
        assert (answer.status_code, list(answer.json["errors"])) == (400, ["cursor"])


def test_export_is_searched_and_ordered_like_the_list(brand, people):
    file = brand.get(f"{URL}/export.csv?q=ada&sort=oldest").get_data(as_text=True)

    exported_ids = [row["id"] for row in csv.DictReader(io.StringIO(file, newline=""))]
    assert exported_ids == _ids(brand.get(f"{URL}?q=ada&sort=oldest"))


def test_locked_history_is_never_payable(brand):
    brand.program()
    conversion_id = insert_conversion(brand, brand.affiliate("ben"), payout_locked=True)

    assert brand.get(f"{URL}/{conversion_id}").json["payableAt"] is None
    assert brand.get(f"{URL}?sort=payable&status=Pending").json["items"][0]["payableAt"] is None


def test_names_of_affiliates_and_programs_cost_no_extra_statement(brand, people):
    few = count_round_trips(lambda: brand.get(f"{URL}?q=ada&take=1"))
    many = count_round_trips(lambda: brand.get(f"{URL}?q=example"))

    (item, *_) = brand.get(f"{URL}?q=ada%20ek").json["items"]
    assert (item["affiliateName"], item["affiliateEmail"]) == ("Ada Ek", "ada@example.com")
    assert item["programName"] == brand.rows("select name from program")[0][0]
    assert many == few == count_round_trips(lambda: brand.get(URL))


@pytest.mark.usefixtures("isolated_database")
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "conversion_list"),
        ("sort=oldest", "conversion_list"),
        ("status=Pending&sort=payable", "conversion_payable_list"),
    ],
)
def test_page_is_read_by_an_index_without_a_count(brand, people, query, index):
    trips: list[bytes] = []
    db.db.trip_hooks.append(trips.append)
    try:
        brand.get(f"{URL}?{query}&take=2")
    finally:
        db.db.trip_hooks.remove(trips.append)
    statement = [trip.rpartition(b";")[2].decode() for trip in trips if b"execute hot_" in trip][-1]
    plan = "\n".join(line for (line,) in brand.rows("discard plans; set local enable_sort = off; explain " + statement))

    assert index in plan, plan
    assert "Seq Scan on conversion" not in plan, plan
    assert "Seq Scan on affiliate" not in plan, plan
    assert "count(" not in " ".join(map(bytes.decode, trips))
