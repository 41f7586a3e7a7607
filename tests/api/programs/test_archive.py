"""Programs that earn nothing: archived or inactive, through HTTP."""

from datetime import UTC, datetime
from uuid import uuid4

from tests.support.rows.brands import Brand

URL = "/api/v1/programs"
SALES = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}


def _created(brand, **fields):
    answer = brand.post(URL, SALES | fields)
    assert answer.status_code == 201, answer.json
    return answer.json


def _change(brand, program_id, **fields):
    return brand.call("PATCH", f"{URL}/{program_id}", fields)


def test_archiving_asks_for_a_writing_key_or_an_owner(app, brand):
    program_id = brand.program()
    free = Brand.create(app, plan="Free")
    on_free = free.program()
    url = f"{URL}/{program_id}"

    for caller in (brand.other_key(scope="read"), brand.person("Viewer"), brand.person("Admin")):
        assert caller.call("DELETE", url).status_code == 403
    assert free.call("DELETE", f"{URL}/{on_free}").status_code == 402
    assert brand.get(url).json["archivedAt"] is None
    assert brand.person("Owner", is_email_verified=False).call("DELETE", url).status_code == 204
    assert free.person("Owner").call("DELETE", f"{URL}/{on_free}").status_code == 204


def test_an_archived_program_is_readable_leaves_the_list_and_earns_nothing(brand):
    program_id = _created(brand, isPrimary=True)["id"]
    brand.affiliate("ben", program_id=program_id)

    answer = brand.call("DELETE", f"{URL}/{program_id}")

    shown = brand.get(f"{URL}/{program_id}").json
    sale = brand.sale()
    assert (answer.status_code, answer.data) == (204, b"")
    assert shown["archivedAt"] == shown["updatedAt"]
    assert shown["isPrimary"] is False
    assert brand.get(URL).json["items"] == []
    assert (sale.status_code, sale.json["error"]) == (400, "no_active_program")


def test_a_program_is_archived_once(brand):
    before = _created(brand)
    url = f"{URL}/{before['id']}"
    brand.call("DELETE", url)
    first = brand.get(url).json

    again = brand.call("DELETE", url)

    assert again.status_code == 204
    assert brand.get(url).json == first
    assert brand.rows("select before, after from audit_entry where action = 'program.archived'") == [(before, first)]


def test_an_archived_program_cannot_be_changed(brand):
    program_id = brand.program(archived_at=datetime.now(UTC))

    answer = _change(brand, program_id, name="Back")

    assert (answer.status_code, answer.json["error"]) == (409, "invalid_status_transition")


def test_domain_of_an_archived_program_is_free_for_another_program_of_its_organization(brand):
    domain = f"{uuid4().hex}.example"
    program_id = brand.program(custom_domain=domain, custom_domain_verified=True)

    brand.call("DELETE", f"{URL}/{program_id}")

    other_id = brand.program(custom_domain=domain, custom_domain_verified=True)
    assert brand.rows("select id from program where custom_domain = %s and archived_at is null", domain) == [
        (other_id,)
    ]


def test_an_inactive_program_earns_nothing_until_it_is_active_again(brand):
    program_id = brand.program()
    brand.affiliate("ben")
    _change(brand, program_id, isActive=False)

    inactive = brand.sale()
    _change(brand, program_id, isActive=True)

    assert (inactive.status_code, inactive.json["error"]) == (400, "no_active_program")
    assert brand.sale().status_code == 200
