"""Parts of source files: stored as they are sent, replaced when sent again, refused when unreadable."""

import threading
import tracemalloc
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from domain.refusals import Refused
from models import db
from pipelines.switches.files import part_storage
from tests.support.switches.file_switch import FileSwitch


@pytest.fixture
def switch(brand):
    return FileSwitch(brand)


def _refusal(action, *args, **kwargs):
    with pytest.raises(Refused) as refused:
        action(*args, **kwargs)
    return refused.value.status, refused.value.code


def test_part_is_stored_with_its_header_and_rows(switch):
    part = switch.put("affiliates", "Email,Name,Nothing\r\nada@x.test, Ada ,\r\n\r\nben@x.test,,\r\n")

    assert (part.collection, part.part, part.rows, part.header) == ("affiliates", 1, 2, ("Email", "Name", "Nothing"))
    assert part.suggested == {"email": "Email", "fullName": "Name"}
    assert switch.rows("affiliates") == {
        "01/00000002": {"cells": {"email": "ada@x.test", "name": "Ada"}},
        "01/00000004": {"cells": {"email": "ben@x.test"}},
    }


def test_part_that_is_sent_again_replaces_its_rows_alone(switch):
    switch.put("affiliates", "email\na@x.test\nb@x.test\n", part=1)
    switch.put("affiliates", "email\nc@x.test\n", part=2)
    switch.put("affiliates", "email\nd@x.test\n", part=11)
    switch.put("codes", "email,code\na@x.test,SAVE\n", part=1)
    switch.put("affiliates", "Mail;Name\ne@x.test;Eve\n", part=1)

    assert list(switch.rows("affiliates")) == ["01/00000002", "02/00000002", "11/00000002"]
    assert switch.rows("affiliates")["01/00000002"] == {"cells": {"mail": "e@x.test", "name": "Eve"}, "separator": ";"}
    assert switch.count_rows("codes") == 1
    [affiliates, _] = switch.collections()
    assert (affiliates.parts, affiliates.rows, affiliates.header) == ({1: 1, 2: 1, 11: 1}, 3, ("Mail", "Name"))


def test_quoted_line_ends_ragged_rows_and_nul_are_kept_apart(switch):
    switch.put("customers", 'email,name\na@x.test,"A\nB"\nb\x00@x.test\nc@x.test,C,more\nd@x.test,D,,\ne@x.test,\x00\n')

    assert switch.rows("customers") == {
        "01/00000002": {"cells": {"email": "a@x.test", "name": "A\nB"}},
        "01/00000004": {"fault": "wrong_cell_count", "text": "b@x.test"},
        "01/00000005": {"fault": "wrong_cell_count", "text": "c@x.test,C,more"},
        "01/00000006": {"cells": {"email": "d@x.test", "name": "D"}},
        "01/00000007": {"fault": "nul_character"},
    }


def test_table_of_the_collection_is_taken_from_a_file_with_several(switch):
    export = "[[AFFILIATES]]\n!USERID;!REFID\nu1;ann\n[[COMMISSIONS]]\n!TRANSID;!USERID\nt1;u1\nt2;u1\n"

    assert switch.put("affiliates", export).header == ("!USERID", "!REFID")
    assert switch.put("commissions", export).rows == 2
    assert switch.rows("commissions")["01/00000006"]["cells"] == {"!transid": "t1", "!userid": "u1"}
    assert _refusal(switch.put, "codes", export) == (422, "unreadable_file")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"email\nZo\xeb@x.test\n",
        b'email,name\na@x.test,"open\n',
        b"PK\x03\x04\x00",
        b"e" * 300 + b"\n",
        b"email\n" + b"x" * 300_000,
        b",".join([b"email"] * 101),
    ],
)
def test_unreadable_part_is_refused_and_the_former_one_stays(switch, data):
    switch.put("affiliates", "email\na@x.test\n")

    assert _refusal(switch.put, "affiliates", data) == (422, "unreadable_file")
    assert list(switch.rows("affiliates")) == ["01/00000002"]


def test_header_without_rows_is_an_empty_part(switch):
    assert switch.put("codes", "email,code\n").rows == 0
    assert switch.count_rows("codes") == 0


@pytest.mark.parametrize(
    ("collection", "part", "refusal"),
    [
        ("affiliates", 0, (400, "invalid_request")),
        ("affiliates", 65, (400, "invalid_request")),
        ("payouts", 1, (404, "not_found")),
    ],
)
def test_part_that_cannot_exist_is_refused(switch, collection, part, refusal):
    assert _refusal(switch.put, collection, "email\n", part=part) == refusal


def test_part_over_16_mib_is_refused(switch):
    assert _refusal(switch.put, "affiliates", b"e" * (16 * 1024 * 1024 + 1)) == (413, "payload_too_large")


def test_part_with_too_many_rows_is_refused(switch, monkeypatch):
    monkeypatch.setattr(part_storage, "MAX_PART_ROWS", 3_000)

    assert switch.put("affiliates", "email\n" + "a\n" * 3_000).rows == 3_000
    assert _refusal(switch.put, "affiliates", "email\n" + "a\n" * 3_001) == (422, "unreadable_file")
    assert switch.count_rows("affiliates") == 3_000


def test_parts_with_more_rows_together_than_a_switch_can_bring_are_refused(switch, monkeypatch):
    monkeypatch.setattr(part_storage, "MAX_COMMISSIONS", 5)
    switch.put("commissions", "date\n" + "2024-01-01\n" * 3, part=1)

    assert _refusal(switch.put, "commissions", "date\n" + "2024-01-01\n" * 3, part=2) == (422, "unreadable_file")
    assert switch.put("commissions", "date\n" + "2024-01-01\n" * 5, part=1).rows == 5
    assert switch.put("customers", "email\n" + "a@x.test\n" * 5).rows == 5


def test_switch_of_another_source_takes_no_files(brand):
    assert _refusal(FileSwitch(brand, source="dub").put, "affiliates", "email\n") == (409, "switch_not_files")


@pytest.mark.parametrize("state", ["Reading", "Writing", "Completed", "Undoing", "Undone", "Cancelled"])
def test_switch_that_works_or_ended_takes_no_files(switch, state):
    switch.change(state=state)

    assert _refusal(switch.put, "affiliates", "email\n") == (409, "switch_not_changeable")


def test_other_tenants_and_unknown_switches_are_not_found(switch, rival):
    key = {"collection": "affiliates", "part": 1, "data": b"email\n", "now": datetime.now(UTC)}
    for organization_id, switch_id in ((rival.id, switch.id), (switch.brand.id, uuid4())):
        with db.unit_of_work(organization_id):
            refusal = _refusal(part_storage.store_part, organization_id=organization_id, switch_id=switch_id, **key)
        assert refusal == (404, "not_found")


def test_new_rows_take_the_preview_of_a_judged_switch_away(switch):
    switch.change(state="Ready", preview={"counts": {}})
    switch.put("affiliates", "email\na@x.test\n")

    assert (switch.find().state, switch.find().preview) == ("Connected", None)


def test_deleted_part_takes_its_rows_and_the_last_one_the_mapping(switch):
    switch.put("affiliates", "id,email,code\n1,a@x.test,one\n", part=1)
    switch.put("affiliates", "id,email,code\n2,b@x.test,two\n", part=2)
    switch.put("customers", "email\nc@x.test\n")
    columns = {"affiliates": {"id": "id", "email": "email", "token": "code"}, "customers": {"email": "email"}}
    switch.change(columns=columns, words={"affiliates": {"a": "Paused"}}, state="Ready", preview={"counts": {}})

    switch.delete("affiliates", part=1)

    assert (switch.find().state, switch.find().preview, switch.find().columns) == ("Connected", None, columns)
    assert (list(switch.rows("affiliates")), list(switch.rows("links"))) == (
        ["02/00000002"],
        ["affiliates/02/00000002"],
    )
    switch.delete("affiliates", part=2)
    assert (switch.find().columns, switch.find().words) == ({"customers": {"email": "email"}}, {})
    assert (switch.count_rows("affiliates"), switch.count_rows("links")) == (0, 0)
    assert [files.collection for files in switch.collections()] == ["customers"]


def test_part_that_is_missing_or_of_a_switch_that_works_is_not_deleted(switch):
    switch.put("affiliates", "email\na@x.test\n")

    assert _refusal(switch.delete, "affiliates", part=2) == (404, "not_found")
    assert _refusal(switch.delete, "codes") == (404, "not_found")
    switch.change(state="Reading")
    assert _refusal(switch.delete, "affiliates") == (409, "switch_not_changeable")


def test_words_of_a_known_export_are_added_where_the_brand_has_said_nothing(switch):
    header = "Affiliate ID,Email,Amount,Currency,Reference,Status,Date"
    switch.change(words={"commissions": {"Unpaid": "pending", "on hold": "held"}})

    part = switch.put("commissions", f"{header}\n1,a@x.test,5,USD,o1,unpaid,2024-01-01\n")

    assert part.service == "AffiliateWP"
    assert switch.find().words["commissions"] == {
        "Unpaid": "pending",
        "on hold": "held",
        "paid": "paid",
        "pending": "pending",
        "rejected": "lost",
    }


def test_two_senders_of_one_part_leave_one_of_the_two(switch):
    contents = [
        f"email\n{name}@x.test\n" * 1 + f"{name}2@x.test\n" * count for name, count in (("a", 3_000), ("b", 10))
    ]
    threads = [threading.Thread(target=switch.put, args=("affiliates", content)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    first = switch.rows("affiliates")["01/00000002"]["cells"]["email"]
    assert switch.count_rows("affiliates") == {"a@x.test": 3_001, "b@x.test": 11}[first]


def _build_sales(size):
    """Return a file of at most so many bytes, and the number of its rows."""
    row = "cus_{0:08},aff{1:05}@example.test,ord-{0:08},149.00,29.80,EUR,2024-05-01T12:00:00Z,paid,\u674e\u96f7\n"
    header = "customer,affiliate,order,amount,commission,currency,date,state,name\n"
    count = (size - len(header)) // len(row.format(0, 0).encode())
    return (header + "".join(row.format(number, number % 10_000) for number in range(count))).encode(), count


def test_part_of_16_mib_is_stored(switch):
    data, count = _build_sales(16 * 1024 * 1024)

    part = switch.put("commissions", data)

    assert len(data) > 16_700_000
    assert (part.rows, switch.count_rows("commissions")) == (count, count)


def test_memory_does_not_grow_with_the_rows_of_a_part(switch):
    data, count = _build_sales(4 * 1024 * 1024)

    tracemalloc.start()
    part = switch.put("commissions", data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert part.rows == count
    # All rows at once take more than 40 MB.
    assert peak < 12_000_000
