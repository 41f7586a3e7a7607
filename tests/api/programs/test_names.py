"""Slugs, custom domain and primary flag of a program, through HTTP."""

import itertools

import pytest

from models import db
from models.programs import programs
from tests.support.api.concurrency import run_concurrently, start_call
from tests.support.settings_overrides import override_settings

URL = "/api/v1/programs"
SALES = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
_NUMBERS = itertools.count(1)


def _create(brand, **fields):
    answer = brand.post(URL, SALES | fields)
    assert answer.status_code == 201, answer.json
    return answer.json


def _change(brand, program_id, **fields):
    return brand.call("PATCH", f"{URL}/{program_id}", fields)


def _unique_domain():
    """Return a domain that no other test uses: only one program of the whole service can have it verified."""
    return f"partners{next(_NUMBERS)}.changes.example"


def test_domain_is_cleared_by_null(brand):
    program_id = brand.program(custom_domain=_unique_domain(), custom_domain_verified=True)

    program = _change(brand, program_id, customDomain=None).json

    assert (program["customDomain"], program["customDomainVerified"]) == (None, False)


def test_domain_is_lower_cased_and_a_changed_one_unverified(brand):
    domain = _unique_domain()
    program_id = brand.program(custom_domain=domain, custom_domain_verified=True)

    same = _change(brand, program_id, customDomain=domain.upper(), name="Other").json
    other = _change(brand, program_id, customDomain=f"Shop.{domain}").json

    assert (same["name"], same["customDomain"], same["customDomainVerified"]) == ("Other", domain, True)
    assert (other["customDomain"], other["customDomainVerified"]) == (f"shop.{domain}", False)


def test_verified_domain_of_another_brand_can_be_set_but_stays_unverified(brand, rival):
    domain = _unique_domain()
    rival.program(custom_domain=domain, custom_domain_verified=True)

    answer = _change(brand, brand.program(), customDomain=domain)

    assert (answer.status_code, answer.json["customDomainVerified"]) == (200, False)


@pytest.mark.parametrize(
    ("domain", "status"),
    [
        ("portal.example", 400),
        ("acme.Portal.example", 400),
        ("api.service.example", 400),
        ("x.api.service.example", 400),
        ("notportal.example", 200),
        ("service.example", 200),
    ],
)
def test_hosts_of_the_service_are_refused_as_domain(brand, monkeypatch, domain, status):
    service_hosts = {"portal_domain": "portal.example", "public_base_url": "https://API.service.example:8443"}
    override_settings(monkeypatch, web=service_hosts)

    answer = _change(brand, brand.program(), customDomain=domain)

    assert answer.status_code == status
    assert status == 200 or list(answer.json["errors"]) == ["customDomain"]


def _list_former_slugs(brand):
    return brand.rows("select slug, program_id::text from program_former_slug order by slug")


def test_former_slugs_of_a_program_are_stored(brand):
    program_id = _create(brand, slug="first")["id"]

    for slug in ("second", "third"):
        assert _change(brand, program_id, slug=slug).json["slug"] == slug

    assert _list_former_slugs(brand) == [("first", program_id), ("second", program_id)]


def test_reclaimed_former_slug_leaves_no_stale_entry(brand):
    program_id = _create(brand, slug="first")["id"]
    _change(brand, program_id, slug="second")

    _change(brand, program_id, slug="first")

    assert _list_former_slugs(brand) == [("second", program_id)]


@pytest.mark.parametrize("action", ["create with the slug", "create with the name", "rename"])
def test_former_slug_belongs_to_its_new_program(brand, action):
    program_id = _create(brand, slug="first")["id"]
    _change(brand, program_id, slug="second")

    if action == "create with the slug":
        _create(brand, slug="first")
    elif action == "create with the name":
        assert _create(brand, name="First")["slug"] == "first"
    else:
        _change(brand, brand.program(slug="other"), slug="first")

    assert ("first", program_id) not in _list_former_slugs(brand)


def test_slug_of_another_program_is_refused(brand, rival):
    _create(rival, slug="free-here")
    _create(brand, slug="taken")
    program_id = _create(brand, slug="mine")["id"]

    refused = _change(brand, program_id, slug="taken", name="Other")

    assert (refused.status_code, refused.json["error"], refused.json["field"]) == (409, "slug_already_taken", "slug")
    assert brand.get(f"{URL}/{program_id}").json["name"] == "Spring"
    assert _list_former_slugs(brand) == []
    assert _change(brand, program_id, slug="free-here").status_code == 200


def test_concurrent_renames_to_one_slug_leave_one_winner(brand):
    ids = [brand.program() for _ in range(3)]

    answers = run_concurrently(
        *[lambda program_id=program_id: _change(brand, program_id, slug="wanted") for program_id in ids]
    )

    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]


def test_new_primary_program_replaces_the_previous_one(brand, rival):
    other_tenants = _create(rival, isPrimary=True)["id"]
    first, second = (_create(brand, isPrimary=is_first)["id"] for is_first in (True, False))

    _change(brand, second, isPrimary=True)

    assert brand.get(f"{URL}/{first}").json["isPrimary"] is False
    assert brand.get(f"{URL}/{second}").json["isPrimary"] is True
    assert rival.get(f"{URL}/{other_tenants}").json["isPrimary"] is True


def test_primary_flag_can_be_removed(brand):
    program_id = _create(brand, isPrimary=True)["id"]

    assert _change(brand, program_id, isPrimary=False).json["isPrimary"] is False


def test_concurrent_primary_changes_leave_one_primary(brand):
    ids = [brand.program() for _ in range(4)]

    for _ in range(3):
        answers = run_concurrently(
            *[lambda program_id=program_id: _change(brand, program_id, isPrimary=True) for program_id in ids]
        )

        assert [answer.status_code for answer in answers] == [200] * 4
        assert brand.rows("select count(*) from program where is_primary") == [(1,)]


def test_swapping_slugs_concurrently_does_not_deadlock(brand):
    first = brand.program(is_primary=True)
    second = brand.program(slug="wanted")

    with db.unit_of_work(brand.id):
        programs.lock(organization_id=brand.id, program_id=first)
        wait_for_change = start_call(lambda: _change(brand, second, slug="moved-on", isPrimary=True))
        is_renamed = programs.rename(organization_id=brand.id, program_id=first, slug="wanted")

    assert (is_renamed, wait_for_change().status_code) == (False, 200)
