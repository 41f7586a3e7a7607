"""`flask program`: suspension, domains and lists."""

import itertools
from datetime import UTC, datetime
from uuid import uuid4

import pytest

_NUMBERS = itertools.count(1)


def _list_audit_entries(brand):
    return brand.rows("select action, entity_id, actor_type, after from audit_entry order by created_at")


def _new_domain():
    """Return a domain unique to the test, because a domain can be verified for one program only."""
    return f"partners{next(_NUMBERS)}.commands.example"


def test_suspended_program_earns_nothing_until_resumed(flask, brand):
    program_id = str(brand.program())
    brand.affiliate("ben")

    suspended = flask.json("program", "suspend", program_id, "--why", "fraud")
    refusal = brand.sale()
    resumed = flask.json("program", "resume", program_id)

    assert suspended == {"id": program_id, "suspended": True, "changed": True}
    assert (refusal.status_code, refusal.json["error"]) == (400, "no_active_program")
    assert resumed == {"id": program_id, "suspended": False, "changed": True}
    assert brand.sale().status_code == 200
    assert [
        (action, entity, actor, after.get("why")) for action, entity, actor, after in _list_audit_entries(brand)
    ] == [
        ("program.suspended", program_id, "operator", "fraud"),
        ("program.resumed", program_id, "operator", None),
    ]


def test_repeated_suspension_is_reported_and_not_audited(flask, brand):
    program_id = str(brand.program())
    flask("program", "suspend", program_id)
    since = brand.rows("select suspended_at, updated_at from program")

    again = flask("program", "suspend", program_id)

    assert again == (
        0,
        f"Program {program_id} was suspended already. Next: flask program resume {program_id}\n",
    )
    assert brand.rows("select suspended_at, updated_at from program") == since
    assert flask("program", "resume", program_id) == (0, f"Program {program_id} earns again.\n")
    assert flask("program", "resume", program_id) == (0, f"Program {program_id} was not suspended.\n")
    assert len(_list_audit_entries(brand)) == 2


def test_brand_can_change_a_suspended_program(flask, brand):
    program_id = brand.program()
    flask("program", "suspend", str(program_id))

    assert brand.call("PATCH", f"/api/v1/programs/{program_id}", {"name": "Better"}).status_code == 200
    assert brand.rows("select suspended_at is not null from program") == [(True,)]


def test_domain_is_verified_and_audited(flask, brand):
    domain = _new_domain()
    program_id = brand.program(custom_domain=domain)

    verification = flask.json("program", "verify-domain", str(program_id))
    again = flask("program", "verify-domain", str(program_id))

    assert verification == {"id": str(program_id), "customDomainVerified": True, "changed": True}
    assert again == (0, f"Program {program_id} had a verified domain already.\n")
    assert brand.get(f"/api/v1/programs/{program_id}").json["customDomainVerified"] is True
    assert [(action, after["customDomain"]) for action, _, _, after in _list_audit_entries(brand)] == [
        ("program.domain_verified", domain)
    ]


def test_program_without_a_domain_cannot_be_verified(flask, brand):
    code, output = flask("program", "verify-domain", str(brand.program()))

    assert code == 1
    assert "has no custom domain" in output


def test_domain_of_an_archived_program_cannot_be_verified(flask, brand):
    code, output = flask(
        "program", "verify-domain", str(brand.program(custom_domain=_new_domain(), archived_at=datetime.now(UTC)))
    )

    assert code == 1
    assert "is archived" in output


def test_domain_verified_for_another_program_is_refused(flask, brand, rival):
    domain = _new_domain()
    holder = rival.program(custom_domain=domain)
    program_id = brand.program(custom_domain=domain)
    flask("program", "verify-domain", str(holder))

    refusal = flask("program", "verify-domain", str(program_id))
    rival.call("DELETE", f"/api/v1/programs/{holder}")

    assert refusal == (
        1,
        f"Error: {domain} is verified for program {holder}. A domain belongs to one program only.\n",
    )
    assert brand.rows("select custom_domain_verified from program") == [(False,)]
    code, output = flask("program", "verify-domain", str(program_id))
    assert code == 1
    assert "left it less than 90 days ago" in output
    flask("org", "free-host", domain)
    assert flask("program", "verify-domain", str(program_id))[0] == 0


@pytest.mark.parametrize("command", ["suspend", "resume", "verify-domain"])
def test_unknown_program_is_reported(flask, command):
    missing = str(uuid4())

    code, output = flask("program", command, missing)

    assert (code, output) == (1, f"Error: There is no program {missing}. `flask program list` lists programs.\n")
    assert flask("program", command, "x")[0] == 2


def test_programs_are_listed_with_their_state(flask, brand, rival):
    domain, now = _new_domain(), datetime.now(UTC)
    programs = [
        brand.program(name="[/red] one", custom_domain=domain),
        brand.program(is_active=False),
        brand.program(suspended_at=now),
        brand.program(archived_at=now, suspended_at=now),
    ]
    theirs = rival.program()

    rows = flask.json("program", "list", "--org", str(brand.id))
    all_rows = flask.json("program", "list")
    code, output = flask("program", "list", "--org", str(brand.id))

    assert [(row["id"], row["state"]) for row in rows] == list(
        zip([str(program_id) for program_id in programs], ["active", "inactive", "suspended", "archived"], strict=True)
    )
    assert (rows[0]["name"], rows[0]["domain"], rows[0]["verified"]) == ("[/red] one", domain, False)
    assert str(theirs) in [row["id"] for row in all_rows]
    assert code == 0
    assert "[/red] one" in output


def test_empty_program_list_prints_a_hint(flask, brand):
    assert flask("program", "list", "--org", str(brand.id)) == (0, "There is no program.\n")
