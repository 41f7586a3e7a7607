"""The preview of a switch, its rows and the confirmed run. Source: the switch-over rules, "Preview" and "Routes"."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.switches.switch_states import TO_CONFIRM, insert_rows, insert_switch

URL = "/api/v1/switches"


@pytest.fixture
def owner(brand):
    return brand.person("Owner")


def test_preview_has_the_names_of_the_interface(brand, owner):
    preview = owner.get(f"{URL}/{insert_switch(brand, 'Ready')}/preview").json

    assert set(preview) == {
        *("asOf", "counts", "money", "figures", "leftOut", "terms", "warnings", "toConfirm", "letters"),
    }
    assert preview["letters"] == 0
    counts = {"read": 6, "new": 3, "known": 1, "changed": 0, "merged": 1, "leftOut": 1}
    assert preview["counts"]["affiliates"] == counts
    assert (preview["money"][0]["owedCents"], preview["money"][0]["lostCents"]) == (980, 0)
    assert preview["figures"][0]["difference"] == 1
    assert preview["leftOut"][0]["commission"] == [{"currency": "USD", "cents": 980}]
    assert preview["terms"][0]["differ"] == ["commissionValue"]
    assert (preview["terms"][0]["theirs"]["commissionValue"], preview["terms"][0]["ours"]["commissionValue"]) == (
        30,
        20,
    )
    assert preview["toConfirm"] == TO_CONFIRM


@pytest.mark.parametrize("path", ["preview", "rows", "rows.csv"])
@pytest.mark.parametrize("state", ["Connected", "Reading", "Paused"])
def test_switch_that_was_never_judged_has_no_preview(brand, owner, state, path):
    answer = owner.get(f"{URL}/{insert_switch(brand, state)}/{path}")

    assert (answer.status_code, answer.json["error"]) == (409, "switch_not_ready")


def test_rows_are_listed_by_filter_and_cursor(brand, owner):
    address = f"{URL}/{insert_switch(brand, 'Ready')}/rows"
    insert_rows(brand, owner.get(URL).json["items"][0]["id"])

    first = owner.get(f"{address}?take=4").json
    rest = owner.get(f"{address}?take=4&cursor={first['nextCursor']}").json
    left_out = owner.get(f"{address}?verdict=left_out").json["items"]

    ids = [row["sourceId"] for row in (*first["items"], *rest["items"])]
    assert (ids, rest["hasMore"]) == (["a1", "a2", "a3", "m1", "m2", "m3"], False)
    assert left_out == [
        {
            "collection": "commissions",
            "sourceId": "m3",
            "label": "order-3",
            "verdict": "left_out",
            "reason": "in_future",
            "currency": "USD",
            "amountCents": 4900,
            "commissionCents": 980,
            "affiliate": "person1@example.com",
            "occurredAt": "2026-05-01T10:00:00.000Z",
            "target": None,
        }
    ]
    assert len(owner.get(f"{address}?collection=affiliates").json["items"]) == 3
    assert owner.get(f"{address}?reason=no_email").json["items"] == []


@pytest.mark.parametrize("query", ["reason=because", "collection=people", "verdict=good", "cursor=AAAA", "take=0"])
def test_malformed_filter_returns_400(brand, owner, query):
    assert owner.get(f"{URL}/{insert_switch(brand, 'Ready')}/rows?{query}").status_code == 400


def test_cursor_of_another_switch_is_refused(brand, owner):
    first, second = insert_switch(brand, "Completed"), insert_switch(brand, "Ready")
    insert_rows(brand, first)
    cursor = owner.get(f"{URL}/{first}/rows?take=1").json["nextCursor"]

    assert owner.get(f"{URL}/{second}/rows?cursor={cursor}").status_code == 400


def test_file_of_rows_is_safe_for_spreadsheets(brand, owner):
    switch_id = insert_switch(brand, "Ready")
    insert_rows(brand, switch_id)

    answer = owner.get(f"{URL}/{switch_id}/rows.csv?collection=commissions")

    lines = answer.text.splitlines()
    assert answer.mimetype == "text/csv"
    assert lines[0] == (
        "collection,source_id,label,verdict,reason,currency,amount_cents,commission_cents,target_type,target_id,"
        "affiliate,occurred_at,reason_text"
    )
    assert lines[3].endswith(",person1@example.com,2026-05-01T10:00:00+00:00,The date is in the future")
    assert [line.split(",")[1] for line in lines[1:]] == ["m1", "m2", "m3"]
    assert lines[1].split(",")[2].startswith("'=")


def test_other_totals_are_refused(brand, owner):
    switch_id = insert_switch(brand, "Ready")

    answer = owner.post(f"{URL}/{switch_id}/run", {"confirm": TO_CONFIRM | {"affiliates": 4}})

    assert (answer.status_code, answer.json["error"]) == (409, "preview_changed")
    assert owner.get(f"{URL}/{switch_id}").json["state"] == "Ready"


@pytest.mark.parametrize("state", ["Connected", "Reading", "Paused", "Completed"])
def test_run_before_the_preview_is_refused(brand, owner, state):
    answer = owner.post(f"{URL}/{insert_switch(brand, state)}/run", {"confirm": TO_CONFIRM})

    assert (answer.status_code, answer.json["error"]) == (409, "switch_not_ready")


@pytest.mark.parametrize("confirm", [{}, {"affiliates": 3}, TO_CONFIRM | {"letters": 0}, TO_CONFIRM | {"payable": 1}])
def test_malformed_confirmation_returns_400(brand, owner, confirm):
    assert owner.post(f"{URL}/{insert_switch(brand, 'Ready')}/run", {"confirm": confirm}).status_code == 400


def test_confirmed_run_writes_and_is_audited(brand, owner):
    switch_id = insert_switch(brand, "Ready")

    answer = owner.post(f"{URL}/{switch_id}/run", {"confirm": TO_CONFIRM})

    assert (answer.status_code, answer.json["state"]) == (202, "Writing")
    assert owner.rows("select action from audit_entry where action like 'switch.%%'") == [("switch.run",)]


def test_undo_is_audited(brand, owner):
    switch_id = insert_switch(brand, "Completed")

    answer = owner.post(f"{URL}/{switch_id}/undo", {})

    assert (answer.status_code, answer.json["state"]) == (202, "Undoing")
    assert owner.rows("select action from audit_entry where action like 'switch.%%'") == [("switch.undone",)]


@pytest.mark.parametrize(
    ("state", "code"),
    [("Ready", "switch_not_completed"), ("Undoing", "switch_already_undone"), ("Undone", "switch_already_undone")],
)
def test_undo_in_the_wrong_state_is_refused(brand, owner, state, code):
    answer = owner.post(f"{URL}/{insert_switch(brand, state)}/undo", {})

    assert (answer.status_code, answer.json["error"]) == (409, code)


def test_undo_after_its_time_is_refused(brand, owner):
    switch_id = insert_switch(brand, "Completed", undo_until=datetime.now(UTC) - timedelta(seconds=1))

    answer = owner.post(f"{URL}/{switch_id}/undo", {})

    assert (answer.status_code, answer.json["error"]) == (409, "undo_expired")
