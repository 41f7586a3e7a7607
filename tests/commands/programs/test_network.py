"""`flask program network`: reviews of programs for the network."""

from uuid import uuid4


def _read_network_columns(brand):
    return brand.rows("select network_visibility, network_review, network_decided_by, network_reason from program")[0]


def test_pending_program_is_listed_approved_and_revoked(flask, brand):
    program_id = str(brand.program(network_visibility="Networked", name=f"Tea {brand.id.hex}"))

    (pending,) = [
        row for row in flask.json("program", "network", "list", "--limit", "10000") if row["id"] == program_id
    ]
    assert (pending["name"], pending["status"], pending["may_list"]) == (f"Tea {brand.id.hex}", "Pending", False)
    assert flask.json("program", "network", "approve", program_id) == {"id": program_id, "networkReview": "Approved"}
    assert _read_network_columns(brand) == ("Networked", "Approved", "flask", None)
    code, output = flask("program", "network", "approve", program_id)
    assert (code, "This program has no pending review" in output) == (1, True)
    assert flask.json("program", "network", "revoke", program_id, "--why", "Complaints.") == {
        "id": program_id,
        "networkReview": "Rejected",
    }
    assert _read_network_columns(brand) == ("Private", "Rejected", "flask", "Complaints.")
    assert brand.rows("select action, actor_type, after->>'why' from audit_entry order by created_at") == [
        ("program.network_approved", "operator", None),
        ("program.network_revoked", "operator", "Complaints."),
    ]


def test_rejection_requires_a_reason(flask, brand):
    program_id = str(brand.program(network_visibility="Networked"))

    assert flask("program", "network", "reject", program_id)[0] != 0
    assert flask("program", "network", "reject", program_id, "--why", " ")[0] != 0
    assert _read_network_columns(brand)[1] == "Pending"
    code, output = flask("program", "network", "reject", program_id, "--why", "Say more.")
    assert (code, output) == (
        0,
        f"Program {program_id} is not listed in the network.\nNext: flask program network list\n",
    )
    assert flask("program", "network", "reject", str(uuid4()), "--why", "w")[0] != 0
