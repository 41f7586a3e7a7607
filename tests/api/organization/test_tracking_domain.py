"""The tracking domain: set by an Owner, verified by DNS, reset when it changes."""

import pytest

from tests.support.outside.brand_dns import TARGET, run_name_server

URL = "/api/v1/settings/tracking-domain"


@pytest.fixture
def dns(monkeypatch):
    with run_name_server(monkeypatch) as server:
        yield server


@pytest.fixture
def domain(brand):
    return f"go.{brand.id.hex}.example"


@pytest.fixture
def owner(brand, domain):
    """Return the Owner of the brand, who has set its tracking domain."""
    person = brand.person("Owner")
    assert _set(person, domain).status_code == 200
    return person


def _set(caller, domain):
    return caller.call("PATCH", URL, {"trackingDomain": domain})


def _list_changes(brand):
    return [
        (action, after)
        for action, after in brand.rows(
            "select action, after from audit_entry where action like 'org.tracking%%' order by created_at, id"
        )
    ]


def test_brand_without_a_domain_has_no_steps(brand):
    assert brand.get(URL).json == {
        "domain": None,
        "state": "Unset",
        "provedBy": None,
        "steps": [],
        "checkedAt": None,
        "nextCheckAt": None,
        "missingSince": None,
    }
    refused = brand.post(f"{URL}/check")
    assert (refused.status_code, refused.json["error"]) == (409, "no_tracking_domain")


def test_domain_is_lower_cased_verified_and_used(brand, owner, domain, dns):
    brand.program()
    state = _set(owner, domain.upper()).json
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]

    checked = owner.post(f"{URL}/check")
    snippet = brand.get("/api/v1/r/install-snippet").json

    assert (state["domain"], state["state"]) == (domain, "Pending")
    assert (checked.status_code, checked.json["state"], checked.json["provedBy"]) == (200, "Verified", "CNAME")
    assert (snippet["scriptHost"], snippet["usingTrackingDomain"]) == (f"https://{domain}", True)
    assert _list_changes(brand) == [
        ("org.tracking_domain_changed", {"trackingDomain": domain, "trackingDomainVerified": False}),
        (
            "org.tracking_domain_verified",
            {"trackingDomain": domain, "trackingDomainVerified": True, "provedBy": "CNAME"},
        ),
    ]


def test_changed_domain_is_reset_and_an_equal_one_is_not(brand, owner, domain, dns):
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    owner.post(f"{URL}/check")

    same = _set(owner, domain).json
    changed = _set(owner, f"b.{domain}").json
    cleared = _set(owner, None).json

    assert (same["state"], changed["state"], changed["checkedAt"], cleared["state"]) == (
        "Verified",
        "Pending",
        None,
        "Unset",
    )
    assert brand.rows("select tracking_domain, tracking_domain_verified from organization") == [(None, False)]


def test_domain_verified_by_another_tenant_is_refused_without_naming_it(brand, rival, owner, domain, dns):
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    _set(rival.person("Owner"), domain)
    owner.post(f"{URL}/check")

    answer = rival.post(f"{URL}/check")

    assert (answer.status_code, answer.json["error"]) == (409, "tracking_domain_already_taken")
    assert str(brand.id) not in answer.text
    assert rival.get(URL).json["state"] == "Pending"


def test_operators_verification_is_lost_on_change_and_refused_for_a_taken_domain(brand, rival, domain, dns):
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    rival.program(custom_domain=domain, custom_domain_verified=True)

    with pytest.raises(Exception, match="Another organization has"):
        brand.set(trackingDomain=domain, trackingDomainVerified="on")
    brand.set(trackingDomain=f"b.{domain}", trackingDomainVerified="on")

    assert brand.get(URL).json["provedBy"] == "Operator"
    brand.set(trackingDomain=f"c.{domain}")
    assert brand.get(URL).json["state"] == "Pending"


def test_unauthorized_role_or_key_cannot_change_or_check(brand, owner, dns):
    for role in ("Viewer", "Manager"):
        person = brand.person(role)
        assert person.get(URL).status_code == 200
        assert _set(person, None).status_code == 403
        assert person.post(f"{URL}/check").status_code == 403
    assert _set(brand.other_key(scope="read"), None).status_code == 403
    assert dns.queries == []


def test_invalid_domain_is_refused(owner, dns):
    bodies = [
        None,
        [],
        {},
        *(
            {"trackingDomain": value}
            for value in (
                "",
                7,
                True,
                ["go.acme.example"],
                "localhost",
                "com",
                TARGET,
                f"go.{TARGET}",
                "192.0.2.1",
                "[::1]",
                "https://go.acme.example",
                "go.acme.example.",
                "go.acme.example\0",
                "göö.example",
                "a..b",
                f"{'a' * 64}.example",
                "a." * 200 + "b",
                "go.local",
            )
        ),
    ]
    for body in bodies:
        answer = owner.call("PATCH", URL, body)
        assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), body
