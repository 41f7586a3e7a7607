"""Reading an account page by page, although its lists move (switch-over rules, "Jobs")."""

import itertools

import pytest

from commands.demo.played import faults
from models import db
from models.switches.staging import reading as models_reading
from pipelines.switches import reading
from tests.support.switches import reading_runs as runs
from tests.support.switches.small_source import create_account, play_small


@pytest.fixture
def account():
    return create_account()


@pytest.fixture
def server(app, monkeypatch, account):
    with play_small(monkeypatch, account) as server:
        yield server


def _number_ids(letter, last):
    return [f"{letter}{number}" for number in range(1, last + 1)]


def _collections(brand, switch):
    with db.unit_of_work(brand.id):
        rows = models_reading.list_collections(organization_id=brand.id, switch_id=switch.id)
    return {row.collection: (row.read, row.total) for row in rows}


def _warnings(brand, switch):
    with db.unit_of_work(brand.id):
        return models_reading.list_warnings(organization_id=brand.id, switch_id=switch.id)


def test_all_rows_of_all_lists_are_read_and_judging_follows(brand, server):
    switch = runs.read(brand, runs.start(brand))

    assert (switch.state, switch.stage, switch.waiting_until) == ("Reading", "judge", None)
    assert runs.ids(brand, switch, "affiliates") == _number_ids("a", 7)
    assert runs.ids(brand, switch, "links") == _number_ids("l", 7)
    assert runs.ids(brand, switch, "codes") == _number_ids("k", 2)
    assert runs.ids(brand, switch, "customers") == _number_ids("c", 7)
    assert runs.ids(brand, switch, "commissions") == _number_ids("m", 7)
    assert [name for name, _ in runs.jobs_of(brand)] == ["switch.judge"]
    assert _warnings(brand, switch) == []
    assert switch.requests == len(server.log)
    assert _collections(brand, switch) == {
        "affiliates": (7, 7),
        "links": (7, None),
        "codes": (2, None),
        "customers": (7, None),
        "commissions": (7, None),
    }


def test_stages_are_the_collections_then_recheck_then_judge(brand, server):
    switch = runs.start(brand)
    stages = [switch.stage]
    while stages[-1] != "judge":
        stages.append(runs.read(brand, switch, max_pages=1).stage)

    assert list(dict.fromkeys(stages)) == [
        "affiliates",
        "links",
        "codes",
        "customers",
        "commissions",
        "recheck",
        "judge",
    ]


def test_list_without_total_is_walked_until_a_walk_brings_nothing_new(brand, server):
    runs.read(brand, runs.start(brand))

    assert [request.value("page", "1") for request in server.requests("/customers")] == ["1", "2", "3"] * 2


def test_list_without_total_is_walked_three_times_at_most(brand, server, account):
    counter = iter(range(100, 200))
    server.faults.add(
        faults.change_account(
            account,
            lambda changed: changed["customers"].append({"id": f"c{next(counter)}"}),
            path="/customers",
            times=99,
        )
    )
    switch = runs.read(brand, runs.start(brand))

    assert switch.stage == "judge"
    assert [request.value("page", "1") for request in server.requests("/customers")].count("1") == 3


def test_rows_added_while_a_list_is_read_are_stored_once(brand, server, account):
    add = faults.change_account(
        account, lambda changed: changed["affiliates"].append({"id": "a8"}), path="/affiliates", skip=1
    )
    server.faults.add(add)
    switch = runs.read(brand, runs.start(brand))

    assert set(_number_ids("a", 7)) <= set(runs.ids(brand, switch, "affiliates"))
    assert brand.rows("select count(*) from switch_row where collection = 'affiliates'") == [
        (len(runs.ids(brand, switch, "affiliates")),)
    ]


@pytest.mark.parametrize("deleted", [1, 2, 4])
def test_fall_of_the_total_leads_back_to_the_skipped_rows(brand, monkeypatch, app, deleted):
    account = create_account(affiliates=15)

    def delete_newest(changed):
        for _ in range(deleted):
            changed["affiliates"].delete(-1)

    with play_small(monkeypatch, account) as server:
        server.faults.add(faults.change_account(account, delete_newest, path="/affiliates", skip=3))
        switch = runs.read(brand, runs.start(brand))

    assert set(runs.ids(brand, switch, "affiliates")) >= set(_number_ids("a", 15 - deleted))


def test_row_skipped_in_a_list_without_total_is_found_by_the_second_walk(brand, server, account):
    delete = faults.change_account(account, lambda changed: changed["customers"].delete(-1), path="/customers", skip=1)
    server.faults.add(delete)
    switch = runs.read(brand, runs.start(brand))

    assert set(runs.ids(brand, switch, "customers")) >= set(_number_ids("c", 6))


def test_row_added_to_a_list_by_cursor_is_found_at_the_end(brand, server, account):
    switch = runs.start(brand)
    while runs.read(brand, switch, max_pages=1).stage != "recheck":
        pass
    with account.lock:
        account["commissions"].append({"id": "m8"})
    switch = runs.read(brand, switch)

    assert runs.ids(brand, switch, "commissions") == _number_ids("m", 8)


def test_links_are_requested_for_affiliates_that_were_added_after_the_walk(brand, server, account):
    switch = runs.start(brand)
    while runs.read(brand, switch, max_pages=1).stage != "codes":
        pass
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into switch_row (organization_id, switch_id, collection, source_id, data)"
            " values (%s, %s, 'affiliates', 'a0', '{}') returning 1",
            (brand.id, switch.id),
        )
    with account.lock:
        account["links"].append({"id": "l0", "affiliate": "a0"})
    switch = runs.read(brand, switch)

    assert "l0" in runs.ids(brand, switch, "links")
    assert len(server.requests("/a1/links")) == 1


def test_list_whose_total_rises_and_falls_ends_with_a_warning(brand, server):
    totals = itertools.cycle([9, 12])
    server.faults.add(
        faults.change(
            lambda response: _with_total(response, next(totals)),
            path="/v1/affiliates",
            times=9_999,
            is_for=lambda r: "links" not in r.path,
        )
    )
    switch = runs.read(brand, runs.start(brand))

    assert (switch.state, switch.stage) == ("Reading", "judge")
    assert runs.ids(brand, switch, "affiliates") == _number_ids("a", 7)
    (warning,) = _warnings(brand, switch)
    assert warning["code"] == "moved_while_read"


def test_wrong_total_is_told_with_both_numbers(brand, server):
    server.faults.add(
        faults.change(
            lambda response: _with_total(response, 9),
            path="/v1/affiliates",
            times=99,
            is_for=lambda r: "links" not in r.path,
        )
    )
    switch = runs.read(brand, runs.start(brand))

    assert _warnings(brand, switch) == [
        {
            "code": "moved_while_read",
            "count": 2,
            "example": "affiliates: 7 rows were read, the source counts 9",
        }
    ]


def _with_total(response, total):
    response.body["total"] = total
    return response


def test_missing_optional_list_is_empty_with_a_warning(brand, server, account):
    del account.collections["codes"]
    switch = runs.read(brand, runs.start(brand))

    assert switch.stage == "judge"
    assert runs.ids(brand, switch, "codes") == []
    assert _warnings(brand, switch) == [{"code": "collection_not_available", "count": 1, "example": "codes"}]


def test_affiliate_without_an_own_list_has_none_and_reading_goes_on(brand, server, account):
    with account.lock:
        account["links"].delete(3)
    switch = runs.read(brand, runs.start(brand))

    assert runs.ids(brand, switch, "links") == ["l1", "l2", "l3", "l5", "l6", "l7"]
    assert _warnings(brand, switch) == []


def test_mentioned_affiliate_is_stored_only_if_no_list_has_them(brand, server, account):
    with account.lock:
        account["commissions"].update(0, by="a1")
        account["commissions"].update(1, by="gone")
    switch = runs.read(brand, runs.start(brand))

    mentions = brand.rows("select source_id, data from switch_row where is_mention")
    assert mentions == [("gone", {"id": "gone"})]
    assert _collections(brand, switch)["affiliates"] == (8, 7)


def test_decimals_are_stored_as_they_were_written(brand, server):
    switch = runs.read(brand, runs.start(brand))

    assert brand.rows("select data from switch_row where switch_id = %s and source_id = 'm1'", switch.id) == [
        ({"id": "m1", "amount": "12.5"},)
    ]


def test_page_recorded_twice_stores_the_same_rows_and_one_next_job(brand, server):
    switch = runs.start(brand)
    with db.unit_of_work(brand.id):
        request = reading.prepare(organization_id=brand.id, switch_id=switch.id, now=switch.touched_at)
    result = reading.call(request)
    for _ in range(2):
        with db.unit_of_work(brand.id):
            reading.record(request, result, now=switch.touched_at)

    assert runs.ids(brand, switch, "affiliates") == ["a5", "a6", "a7"]
    assert _collections(brand, switch)["affiliates"] == (3, 7)
    assert len(runs.jobs_of(brand)) == 2  # the first, which was not run, and the next
    assert runs.reload(brand, switch).requests == 2


def test_job_that_dies_before_it_records_is_repeated_from_its_cursor(brand, server):
    switch = runs.start(brand)
    with db.unit_of_work(brand.id):
        request = reading.prepare(organization_id=brand.id, switch_id=switch.id, now=switch.touched_at)
    reading.call(request)  # and dies
    switch = runs.read(brand, switch)

    assert switch.stage == "judge"
    assert runs.ids(brand, switch, "affiliates") == _number_ids("a", 7)
    assert _collections(brand, switch)["affiliates"] == (7, 7)


def test_second_reading_takes_over_changes_and_counts_its_own_rows(brand, server, account):
    switch = runs.read(brand, runs.start(brand))
    with db.unit_of_work(brand.id):
        db.db.run("delete from job returning 1")
        db.db.run("update switch set state = 'Ready', stage = null returning 1")
    with account.lock:
        account["affiliates"].update(0, name="Ann")
        account["affiliates"].append({"id": "a8"})
        account["affiliates"].delete(1)
    switch = runs.read(brand, runs.act(brand, switch, "start_reading"))

    assert runs.ids(brand, switch, "affiliates") == _number_ids(
        "a", 8
    )  # the deleted one is stored, and no longer counts
    assert brand.rows("select data ->> 'name' from switch_row where source_id = 'a1'") == [("Ann",)]
    assert _collections(brand, switch)["affiliates"] == (7, 7)
    assert _warnings(brand, switch) == []
