"""Programs of every organization: an operator suspends and resumes them."""

import threading

import pytest

from tests.support.api.payouts import UNKNOWN_ID
from tests.support.outside.console import list_audit_entries
from tests.support.rows.program_rows import insert_conversion


@pytest.fixture
def program_id(brand):
    """A program of the brand in which ben sells."""
    created_id = brand.program()
    brand.affiliate("ben")
    return str(created_id)


def test_suspended_program_earns_nothing_until_resumed(console, brand, program_id):
    insert_conversion(brand, brand.affiliate("ann"), commission_cents=1_234)
    suspended = console.post(f"programs/{program_id}/suspend", {"why": "stolen <cards>"})
    refused = brand.sale()
    resumed = console.post(f"programs/{program_id}/resume", {"why": "all paid back"})

    assert (suspended.status_code, suspended.json["status"]) == (200, "Suspended")
    assert suspended.json["suspendedAt"] is not None
    assert (refused.status_code, refused.json["error"]) == (400, "no_active_program")
    assert brand.rows("select commission_cents, status from conversion") == [(1_234, "Pending")]
    assert (resumed.status_code, resumed.json["status"], resumed.json["suspendedAt"]) == (200, "Active", None)
    assert brand.sale().status_code == 200
    for action, why in (("program.suspended", "stolen <cards>"), ("program.resumed", "all paid back")):
        ((actor, actor_label, organization_id, after),) = list_audit_entries(action, program_id)
        assert (actor, actor_label, organization_id, after["why"]) == ("operator", "ops@example.com", brand.id, why)


def test_repeated_suspend_or_resume_changes_nothing_and_is_not_audited(console, brand, program_id):
    first = console.post(f"programs/{program_id}/suspend", {"why": "a"}).json
    again = console.post(f"programs/{program_id}/suspend", {"why": "b"})

    assert (again.status_code, again.json) == (200, first)
    assert len(list_audit_entries("program.suspended", program_id)) == 1
    console.post(f"programs/{program_id}/resume", {"why": "c"})
    assert console.post(f"programs/{program_id}/resume", {"why": "d"}).json["status"] == "Active"
    assert len(list_audit_entries("program.resumed", program_id)) == 1


def test_concurrent_suspensions_suspend_once(console, program_id):
    answers = []
    threads = [
        threading.Thread(
            target=lambda why=why: answers.append(console.post(f"programs/{program_id}/suspend", {"why": why}))
        )
        for why in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json == answers[1].json
    assert len(list_audit_entries("program.suspended", program_id)) == 1


def test_reason_is_required_and_limited_in_length(console, program_id):
    for act in ("suspend", "resume"):
        for why in (None, "", " \n", "\x00", "a\x00b", "x" * 10_000, 7, ["w"]):
            assert console.post(f"programs/{program_id}/{act}", {"why": why}).status_code == 400, (act, why)
        assert console.post(f"programs/{program_id}/{act}").status_code == 400
        assert console.post(f"programs/{UNKNOWN_ID}/{act}", {"why": "w"}).status_code == 404
    assert console.get(f"programs/{program_id}")["status"] == "Active"
    assert console.post(f"programs/{program_id}/suspend", {"why": "ü" * 1_000}).status_code == 200


def test_program_shows_its_organization_and_status(console, brand, rival, program_id):
    archived = str(rival.program(archived_at="2026-01-01T00:00:00Z", name="Over"))
    inactive = str(rival.program(is_active=False))

    program = console.get(f"programs/{program_id}")
    assert (program["organizationId"], program["organization"], program["affiliates"]) == (str(brand.id), "Brand", 1)
    assert [console.get(f"programs/{other_id}")["status"] for other_id in (archived, inactive)] == [
        "Archived",
        "Inactive",
    ]


def test_programs_are_filtered_by_brand_status_and_text(console, brand, rival, program_id):
    rival_program_ids = [str(rival.program(name=f"Ünique {rival.id.hex} {n}")) for n in range(3)]
    console.post(f"programs/{rival_program_ids[1]}/suspend", {"why": "w"})

    def list_ids(**query):
        return [program["id"] for program in console.get("programs", **query)["items"]]

    assert list_ids(organizationId=rival.id) == rival_program_ids[::-1]
    assert list_ids(organizationId=rival.id, status="Suspended") == [rival_program_ids[1]]
    assert list_ids(q=f"üNIQUE {rival.id.hex}") == rival_program_ids[::-1]
    assert list_ids(q=program_id) == [program_id]
    assert list_ids(q="%25", organizationId=brand.id) == []
    first = console.get("programs", organizationId=rival.id, take=2)
    rest = console.get("programs", organizationId=rival.id, take=2, cursor=first["nextCursor"])
    assert [program["id"] for page in (first, rest) for program in page["items"]] == rival_program_ids[::-1]
    for query in ("status=Gone", "organizationId=x", "cursor=x", "q=%00"):
        assert console.call("GET", f"programs?{query}").status_code == 400, query
