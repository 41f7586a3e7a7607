"""The tracking domain: set by an Owner, proved by DNS, reset when it changes."""

import pytest

from tests.support.outside.brand_dns import TARGET, run_name_server

_HERE = "/api/v1/settings/tracking-domain"


@pytest.fixture
def dns(monkeypatch):
    with run_name_server(monkeypatch) as server:
        yield server


@pytest.fixture
def domain(brand):
    return f"go.{brand.id.hex}.example"


@pytest.fixture
def owner(brand, domain):
    """The Owner of a brand that has set its domain."""
    found = brand.person("Owner")
    assert _set(found, domain).status_code == 200
    return found


def _set(caller, domain):
    return caller.call("PATCH", _HERE, {"trackingDomain": domain})


def _audited(brand):
    return [
        (action, after)
        for action, after in brand.rows(
            "select action, after from audit_entry where action like 'org.tracking%%' order by created_at, id"
        )
    ]


def test_without_one_there_is_nothing_to_set_up(brand):
    assert brand.get(_HERE).json == {
        "domain": None,
        "state": "Unset",
        "provedBy": None,
        "steps": [],
        "checkedAt": None,
        "nextCheckAt": None,
        "missingSince": None,
    }
    refused = brand.post(f"{_HERE}/check")
    assert (refused.status_code, refused.json["error"]) == (409, "no_tracking_domain")


def test_it_is_set_in_any_case_proved_and_used(brand, owner, domain, dns):
    brand.program()
    shown = _set(owner, domain.upper()).json
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]

    checked = owner.post(f"{_HERE}/check")
    snippet = brand.get("/api/v1/r/install-snippet").json

    assert (shown["domain"], shown["state"]) == (domain, "Pending")
    assert (checked.status_code, checked.json["state"], checked.json["provedBy"]) == (200, "Verified", "CNAME")
    assert (snippet["scriptHost"], snippet["usingTrackingDomain"]) == (f"https://{domain}", True)
    assert _audited(brand) == [
        ("org.tracking_domain_changed", {"trackingDomain": domain, "trackingDomainVerified": False}),
        (
            "org.tracking_domain_verified",
            {"trackingDomain": domain, "trackingDomainVerified": True, "provedBy": "CNAME"},
        ),
    ]


def test_a_change_resets_it_and_the_same_again_does_not(brand, owner, domain, dns):
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    owner.post(f"{_HERE}/check")

    same = _set(owner, domain).json
    other = _set(owner, f"b.{domain}").json
    gone = _set(owner, None).json

    assert (same["state"], other["state"], other["checkedAt"], gone["state"]) == ("Verified", "Pending", None, "Unset")
    assert brand.rows("select tracking_domain, tracking_domain_verified from organization") == [(None, False)]


def test_what_another_tenant_has_proved_is_refused_without_a_name(brand, rival, owner, domain, dns):
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    _set(rival.person("Owner"), domain)
    owner.post(f"{_HERE}/check")

    answer = rival.post(f"{_HERE}/check")

    assert (answer.status_code, answer.json["error"]) == (409, "tracking_domain_already_taken")
    assert str(brand.id) not in answer.text
    assert rival.get(_HERE).json["state"] == "Pending"


def test_an_operators_word_is_forgotten_with_the_name_and_refused_where_another_has_it(brand, rival, domain, dns):
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    rival.program(custom_domain=domain, custom_domain_verified=True)

    with pytest.raises(Exception, match="Another organization has"):
        brand.set(trackingDomain=domain, trackingDomainVerified="on")
    brand.set(trackingDomain=f"b.{domain}", trackingDomainVerified="on")

    assert brand.get(_HERE).json["provedBy"] == "Operator"
    brand.set(trackingDomain=f"c.{domain}")
    assert brand.get(_HERE).json["state"] == "Pending"


def test_who_may_not(brand, owner, dns):
    for role in ("Viewer", "Manager"):
        person = brand.person(role)
        assert person.get(_HERE).status_code == 200
        assert _set(person, None).status_code == 403
        assert person.post(f"{_HERE}/check").status_code == 403
    assert _set(brand.other_key(scope="read"), None).status_code == 403
    assert dns.queries == []


def test_what_is_no_domain_of_a_brands_is_refused(owner, dns):
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
        answer = owner.call("PATCH", _HERE, body)
        assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), body
