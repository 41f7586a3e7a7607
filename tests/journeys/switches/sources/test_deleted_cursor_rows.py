"""The row of a cursor is deleted there while its list is read (switch-over rules, "Jobs", a list that moves)."""

import pytest

from commands.demo.played import faults
from commands.demo.played.sample import Sample
from tests.support.rows.brands import Brand
from tests.support.switches.played_switch import switching

# More rows than a page of every source has.
_SAMPLE = Sample(campaigns=1, affiliates=260, customers=520, commissions=520)
_COMMISSIONS = {"partnerstack": ("/rewards", "rewards", "key"), "dub": ("/commissions", "commissions", "id")}
_COMMISSIONS["tolt"] = ("/commissions", "commissions", "id")


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def _delete_before_next_page(switch, rows, key):
    """Return a fault that deletes the last row of a page after it was sent."""

    def change(response):
        body = response.body
        page = body if isinstance(body, list) else body["data"]
        page = page if isinstance(page, list) else page["items"]
        rows.delete(next(place for place in range(len(rows)) if rows[place][key] == page[-1][key]))
        return response

    return change


@pytest.mark.parametrize("name", list(_COMMISSIONS))
@pytest.mark.parametrize("status", [400, 404])
def test_list_is_begun_again_and_all_other_rows_come_over(brand, monkeypatch, name, status):
    path, collection, key = _COMMISSIONS[name]
    with switching(brand, monkeypatch, name, _SAMPLE) as switch:
        switch.connect()
        rows = switch.account[collection]
        switch.server.faults.add(faults.change(_delete_before_next_page(switch, rows, key), path=path))
        switch.server.faults.add(faults.respond(status, {"error": "unknown cursor"}, path=path))
        switch.read()

        stored = switch.find()
        assert (stored.state, stored.last_error_code) == ("Ready", None)
        ids = {row_id for (row_id,) in brand.rows("select source_id from switch_row where collection = 'commissions'")}
        assert {rows[place][key] for place in range(len(rows))} <= ids


def test_code_list_whose_cursor_row_is_deleted_is_not_cut_short(brand, monkeypatch):
    with switching(brand, monkeypatch, "tolt", _SAMPLE) as switch:
        rows = switch.account["promotion-codes"]
        for number in range(len(rows), 150):
            rows.append({**rows[0], "id": f"code_{number}", "code": f"ADDED{number}"})
        switch.connect()
        where = {"path": "/promotion-codes"}
        switch.server.faults.add(faults.change(_delete_before_next_page(switch, rows, "id"), **where))
        switch.server.faults.add(faults.respond(404, {"success": False}, **where))
        switch.read()

        count = brand.rows("select count(*) from switch_row where collection = 'codes'")[0][0]
    assert count == 150  # with the deleted one, which was read
    assert "collection_not_available" not in {row["code"] for row in switch.find().preview["warnings"]}
