"""Archived and inactive programs, which earn nothing, through HTTP."""

from datetime import UTC, datetime
from uuid import uuid4

from tests.support.rows.brands import Brand

URL = "/api/v1/programs"
SALES = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}


def _create(brand, **fields):
    answer = brand.post(URL, SALES | fields)
    assert answer.status_code == 201, answer.json
    return answer.json


def _change(brand, program_id, **fields):
    return brand.call("PATCH", f"{URL}/{program_id}", fields)


def test_archiving_needs_a_write_key_with_a_plan_or_an_owner(app, brand):
    program_id = brand.program()
    free = Brand.create(app, plan="Free")
    free_program_id = free.program()
    url = f"{URL}/{program_id}"

    for caller in (brand.other_key(scope="read"), brand.person("Viewer"), brand.person("Admin")):
        assert caller.call("DELETE", url).status_code == 403
    assert free.call("DELETE", f"{URL}/{free_program_id}").status_code == 402
    assert brand.get(url).json["archivedAt"] is None
    assert brand.person("Owner", is_email_verified=False).call("DELETE", url).status_code == 204
    assert free.person("Owner").call("DELETE", f"{URL}/{free_program_id}").status_code == 204


def test_archived_program_is_readable_but_unlisted_and_earns_nothing(brand):
    program_id = _create(brand, isPrimary=True)["id"]
    brand.affiliate("ben", program_id=program_id)

    answer = brand.call("DELETE", f"{URL}/{program_id}")

    program = brand.get(f"{URL}/{program_id}").json
    sale = brand.sale()
    assert (answer.status_code, answer.data) == (204, b"")
    assert program["archivedAt"] == program["updatedAt"]
    assert program["isPrimary"] is False
    assert brand.get(URL).json["items"] == []
    assert (sale.status_code, sale.json["error"]) == (400, "no_active_program")


def test_program_is_archived_once(brand):
    created = _create(brand)
    url = f"{URL}/{created['id']}"
    brand.call("DELETE", url)
    archived = brand.get(url).json

    repeated = brand.call("DELETE", url)

    assert repeated.status_code == 204
    assert brand.get(url).json == archived
    assert brand.rows("select before, after from audit_entry where action = 'program.archived'") == [
        (created, archived)
    ]


def test_archived_program_cannot_be_changed(brand):
    program_id = brand.program(archived_at=datetime.now(UTC))

    answer = _change(brand, program_id, name="Back")

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_domain_of_an_archived_program_can_be_reused(brand):
    domain = f"{uuid4().hex}.example"
    program_id = brand.program(custom_domain=domain, custom_domain_verified=True)

    brand.call("DELETE", f"{URL}/{program_id}")

    other_id = brand.program(custom_domain=domain, custom_domain_verified=True)
    assert brand.rows("select id from program where custom_domain = %s and archived_at is null", domain) == [
        (other_id,)
    ]


def test_inactive_program_earns_nothing_until_reactivated(brand):
    program_id = brand.program()
    brand.affiliate("ben")
    _change(brand, program_id, isActive=False)

    inactive = brand.sale()
    _change(brand, program_id, isActive=True)

    assert (inactive.status_code, inactive.json["error"]) == (400, "no_active_program")
    assert brand.sale().status_code == 200
