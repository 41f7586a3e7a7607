"""The list of programs, through HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.api.lists import assert_foreign_cursors_refused, count_round_trips

URL = "/api/v1/programs"


def test_list_pages_through_all_programs_newest_first(brand, rival):
    program_ids = [str(brand.program()) for _ in range(5)]
    rival.program()

    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json
    third = brand.get(f"{URL}?take=2&cursor={second['nextCursor']}").json

    listed = [item["id"] for page in (first, second, third) for item in page["items"]]
    assert listed == program_ids[::-1]
    assert [page["hasMore"] for page in (first, second, third)] == [True, True, False]
    assert third["nextCursor"] is None


def test_changes_between_pages_skip_or_repeat_no_program(brand):
    program_ids = [str(brand.program()) for _ in range(6)]
    listed, cursor = [], ""
    for _ in range(3):
        page = brand.get(f"/api/v1/programs?take=2{cursor}").json
        listed += [program["id"] for program in page["items"]]
        cursor = f"&cursor={page['nextCursor']}"
        brand.program()
        brand.call("DELETE", f"/api/v1/programs/{listed[-1]}")

    assert listed == program_ids[::-1]
    assert page["hasMore"] is False


def test_programs_with_equal_timestamps_are_all_listed(brand):
    created_at = datetime.now(UTC)
    program_ids = {str(brand.program(created_at=created_at)) for _ in range(3)}

    first = brand.get(f"{URL}?take=2").json
    second = brand.get(f"{URL}?take=2&cursor={first['nextCursor']}").json

    assert {item["id"] for item in first["items"] + second["items"]} == program_ids


def test_archived_programs_are_listed_on_request_and_readable(brand):
    active, archived = str(brand.program()), str(brand.program(archived_at=datetime.now(UTC)))

    default = brand.get(URL).json["items"]
    everything = brand.get(f"{URL}?includeArchived=true").json["items"]

    assert [item["id"] for item in default] == [active]
    assert [item["id"] for item in everything] == [archived, active]
    assert brand.get(f"{URL}/{archived}").json["archivedAt"] is not None


@pytest.mark.parametrize(
    "query", ["take=0", "take=-1", "take=ten", "take=1.5", "take=", "take=１", "includeArchived=1", "cursor=%00"]
)
def test_malformed_query_returns_400(brand, query):
    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_page_size_is_limited_to_the_maximum(brand):
    started = datetime.now(UTC)
    for number in range(201):
        brand.program(created_at=started + timedelta(seconds=number))

    assert len(brand.get(f"{URL}?take=99999999999999999999").json["items"]) == 200
    assert len(brand.get(URL).json["items"]) == 50


def test_list_refuses_foreign_cursors(brand, rival):
    for owner in (brand, rival):
        owner.program()
        owner.program()
        owner.affiliate("ben")
        owner.affiliate("rita")

    assert_foreign_cursors_refused(brand, URL, foreign=(rival, URL), other=(brand, "/api/v1/affiliates"))


def test_list_round_trips_do_not_grow_with_programs(brand):
    brand.program()
    trips_before = count_round_trips(lambda: brand.get(URL))
    for _ in range(9):
        brand.program()

    assert count_round_trips(lambda: brand.get(URL)) == trips_before


@pytest.mark.parametrize("program_id", ["nonsense", "1", "00000000-0000-0000-0000-00000000000g", "%00"])
def test_malformed_id_returns_404(brand, program_id):
    answer = brand.get(f"{URL}/{program_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
