"""`flask switch`. Source: the switch-over rules, "Screens and command"."""

import pytest

from tests.support.switches.switch_states import insert_rows, insert_switch

_UNKNOWN = "01890000-0000-7000-8000-000000000000"


def test_switches_are_listed_by_organization(brand, flask):
    switch_id = str(insert_switch(brand, "Paused"))

    (row,) = flask.json("switch", "list", f"--org={brand.id}")

    assert (row["id"], row["source"], row["state"], row["last_error_code"], row["rows"]) == (
        *(switch_id, "rewardful", "Paused", "credentials_refused", 18),
    )
    assert switch_id in flask("switch", "list", f"--org={brand.id}")[1]
    assert flask("switch", "list", f"--org={_UNKNOWN}")[1].strip() == "There is no such switch."


def test_show_says_what_to_do_next_and_no_key(brand, flask):
    switch_id = str(insert_switch(brand, "Paused"))

    document, (status, text) = flask.json("switch", "show", switch_id), flask("switch", "show", switch_id)

    assert status == 0
    assert [part["collection"] for part in document["progress"]] == ["affiliates", "customers", "commissions"]
    assert document["credentials_held"] is True
    assert "sealed" not in str(document)
    assert "Next: the brand enters a new key" in text


def test_rows_are_listed_by_reason(brand, flask):
    switch_id = insert_switch(brand, "Ready")
    insert_rows(brand, switch_id)

    rows = flask.json("switch", "rows", str(switch_id), "--reason=in_future")

    assert [(row["source_id"], row["verdict"]) for row in rows] == [("m3", "left_out")]
    assert len(flask.json("switch", "rows", str(switch_id))) == 6
    assert "No row is left out for this reason." in flask("switch", "rows", str(switch_id), "--reason=no_email")[1]


def test_paused_switch_is_resumed_and_audited(brand, flask):
    switch_id = str(insert_switch(brand, "Paused"))

    assert flask.json("switch", "resume", switch_id) == {"id": switch_id, "state": "Reading"}
    assert brand.rows("select action, actor_type from audit_entry where action like 'switch.%%'") == [
        ("switch.changed", "operator")
    ]


def test_cancelled_switch_loses_its_key(brand, flask):
    switch_id = str(insert_switch(brand, "Ready", credentials_sealed=b"sealed"))

    assert flask.json("switch", "cancel", switch_id)["state"] == "Cancelled"
    assert brand.rows("select credentials_sealed from switch") == [(None,)]


def test_undo_begins(brand, flask):
    switch_id = str(insert_switch(brand, "Completed"))

    assert flask.json("switch", "undo", switch_id)["state"] == "Undoing"


def test_forgotten_switch_has_no_rows_and_no_undo(brand, flask):
    switch_id = insert_switch(brand, "Completed")
    insert_rows(brand, switch_id)

    assert flask.json("switch", "forget", "--yes", str(switch_id)) == {"id": str(switch_id), "forgotten": True}

    assert brand.rows("select count(*) from switch_item") == [(0,)]
    status, text = flask("switch", "undo", str(switch_id))
    assert (status, "undo" in text.lower()) == (1, True)


def test_open_switch_is_not_forgotten(brand, flask):
    switch_id = insert_switch(brand, "Ready")
    insert_rows(brand, switch_id)

    status, text = flask("switch", "forget", str(switch_id))

    assert (status, "Cancel it first" in text) == (1, True)
    assert brand.rows("select count(*) from switch_item") == [(6,)]


def test_digest_has_a_line_for_each_collection_and_all(brand, flask):
    switch_id = str(insert_switch(brand, "Completed"))

    digests = flask.json("switch", "digest", switch_id)
    lines = flask("switch", "digest", switch_id)[1].splitlines()

    assert list(digests) == ["affiliates", "links", "codes", "customers", "commissions", "all"]
    assert all(len(digest) == 64 for digest in digests.values())
    assert lines == [f"{digest}  {name}" for name, digest in digests.items()]


@pytest.mark.parametrize("command", ["show", "rows", "resume", "cancel", "undo", "forget", "digest"])
def test_unknown_switch_is_reported_in_one_line(flask, command):
    status, text = flask("switch", command, _UNKNOWN)

    assert status == 1
    assert f"There is no switch {_UNKNOWN}" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(("command", "words"), [("resume", "not paused"), ("cancel", "cannot be cancelled")])
def test_command_in_the_wrong_state_is_refused(brand, flask, command, words):
    status, text = flask("switch", command, str(insert_switch(brand, "Completed")))

    assert (status, words in text) == (1, True)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("Ready", "Owner"),
        ("Reading", "imports"),
        ("Completed", "undo"),
        ("Undone", "again"),
        ("Cancelled", "new switch"),
    ],
)
def test_show_reads_as_sentences_in_each_state(brand, flask, state, words):
    text = flask("switch", "show", str(insert_switch(brand, state)))[1]

    assert words in text.rpartition("Next: ")[2]
    assert not any(mark in text for mark in ("{", "[", "True", "False"))


def test_amounts_have_their_currency(brand, flask):
    switch_id = insert_switch(brand, "Ready")
    insert_rows(brand, switch_id)

    text = flask("switch", "rows", str(switch_id))[1]

    assert any(f"{currency}" in text and "." in text for currency in ("USD", "EUR"))


def test_forgetting_a_completed_switch_asks_first(brand, flask):
    switch_id = insert_switch(brand, "Completed")
    insert_rows(brand, switch_id)

    status, text = flask("switch", "forget", str(switch_id))

    assert (status, "cannot be undone afterwards" in text) == (1, True)
    assert brand.rows("select count(*) from switch_item") == [(6,)]


def test_digest_of_a_switch_that_brought_nothing_says_so(brand, flask):
    assert "Nothing was brought" in flask("switch", "digest", str(insert_switch(brand, "Cancelled")))[1]
