"""Parts of files of a switch. Source: the switch-over rules, "Routes" (source files)."""

import pytest

from tests.support.switches.switch_states import insert_switch

URL = "/api/v1/switches"
_PEOPLE = b"Partner email,Name,Code\nben@example.com,Ben Osei,Ben.O\nnobody,Ada Ek,ada\n"


@pytest.fixture
def owner(brand):
    return brand.person("Owner")


@pytest.fixture
def address(owner):
    return f"{URL}/{owner.post(URL, {'source': 'files', 'credentials': {}}).json['id']}"


def _put(owner, address, collection="affiliates", part="1", content=_PEOPLE, **headers):
    return owner.call("PUT", f"{address}/files/{collection}/{part}", content, Content_Type="text/csv", **headers)


def test_part_is_stored_with_suggested_columns(owner, address):
    answer = _put(owner, address)

    assert answer.status_code == 200, answer.text
    record = answer.json
    assert (record["collection"], record["part"], record["rows"]) == ("affiliates", 1, 2)
    assert record["header"] == ["Partner email", "Name", "Code"]
    assert record["suggested"]["email"] == "Partner email"


def test_part_that_is_sent_again_replaces_the_former_one(owner, address):
    _put(owner, address)
    _put(owner, address, part="2", content=b"Partner email\nada@example.com\n")
    _put(owner, address, content=b"Partner email\nben@example.com\n")

    (files,) = owner.get(f"{address}/files").json

    assert files["parts"] == [{"part": 1, "rows": 1}, {"part": 2, "rows": 1}]


def test_first_rows_are_shown_as_they_will_be(owner, address):
    _put(owner, address, content=_PEOPLE + b"too,many,cells,here\n")
    columns = {"affiliates": {"email": "Partner email", "fullName": "Name", "token": "Code"}}
    changed = owner.call("PATCH", address, {"columns": columns})

    (files,) = [files for files in owner.get(f"{address}/files").json if files["collection"] == "affiliates"]

    assert changed.status_code == 200, changed.text
    assert (files["columns"], files["missing"]) == (columns["affiliates"], [])
    assert [row["line"] for row in files["preview"]] == [2, 3, 4]
    assert files["preview"][0]["values"]["email"] == "ben@example.com"
    assert (files["preview"][0]["problem"], files["preview"][2]["problem"]) == (None, "unreadable_row")


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("payouts/1", (404, "not_found")),
        ("affiliates/0", (404, "not_found")),
        ("affiliates/65", (400, "invalid_request")),
        ("affiliates/one", (404, "not_found")),
    ],
)
def test_unknown_part_is_refused(owner, address, path, refusal):
    answer = _put(owner, address, *path.split("/"))

    assert (answer.status_code, answer.json["error"]) == refusal


def test_deleted_part_is_gone(owner, address):
    _put(owner, address)

    deleted = owner.call("DELETE", f"{address}/files/affiliates/1")
    again = owner.call("DELETE", f"{address}/files/affiliates/1")

    assert (deleted.status_code, again.status_code, again.json["error"]) == (204, 404, "not_found")
    assert owner.get(f"{address}/files").json == []


@pytest.mark.parametrize("path", ["payouts/1", "affiliates/0", "affiliates/one"])
def test_address_of_no_part_says_which_there_are(owner, address, path):
    answer = _put(owner, address, *path.split("/"))

    assert "organization" not in answer.json["message"]
    assert "affiliates" in answer.json["message"] if "payouts" in path else "1 to 64" in answer.json["message"]


def test_unreadable_file_returns_422(owner, address):
    answer = _put(owner, address, content=b"\xff\xfe\x00")

    assert (answer.status_code, answer.json["error"]) == (422, "unreadable_file")


def test_file_for_a_system_that_is_read_is_refused(brand, owner):
    address = f"{URL}/{insert_switch(brand, 'Connected')}"

    answer = _put(owner, address)
    listed = owner.get(f"{address}/files")

    assert (answer.status_code, answer.json["error"]) == (409, "switch_not_files")
    assert (listed.status_code, listed.json["error"]) == (409, "switch_not_files")


def test_part_of_16_mib_is_taken_and_a_larger_one_refused(owner, address):
    line = b"ben@example.com," + b"x" * 1000 + b"\n"
    size = 16 * 1024 * 1024
    head = b"Partner email,Note\n"
    largest = (head + line * (size // len(line) + 1))[:size]

    taken = _put(owner, address, content=largest[: largest.rfind(b"\n") + 1])
    refused = _put(owner, address, content=largest + b"xx")

    assert (taken.status_code, refused.status_code) == (200, 413)


def test_viewers_and_keys_store_no_files(brand, owner, address):
    assert _put(brand.person("Viewer"), address).status_code == 403
    assert _put(brand, address).status_code == 403
    assert owner.get(f"{address}/files").json == []


def test_mapped_files_are_read_and_judged(brand, owner, address, drain):
    _put(owner, address)
    body = {
        "columns": {"affiliates": {"email": "Partner email", "fullName": "Name", "token": "Code"}},
        "campaigns": [{"sourceId": "all", "programId": str(brand.program())}],
    }
    assert owner.call("PATCH", address, body).status_code == 200

    started = owner.post(f"{address}/read", {})
    drain()

    assert (started.status_code, started.json["state"]) == (202, "Reading")
    assert owner.get(address).json["state"] == "Ready"
    preview = owner.get(f"{address}/preview").json
    assert preview["toConfirm"] == {"affiliates": 1, "customers": 0, "commissions": 0, "payable": []}
    assert [(row["reason"], row["count"]) for row in preview["leftOut"] if row["collection"] == "affiliates"] == [
        ("invalid_email", 1)
    ]
    actions = owner.rows("select action from audit_entry where action like 'switch.%%' order by created_at, id")
    assert [action for (action,) in actions] == ["switch.connected", "switch.changed", "switch.changed", "switch.read"]
