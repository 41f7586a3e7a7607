"""Access to the sub-affiliate setting of a program, through HTTP."""

import pytest

SETTING = {"enabled": True, "percent": 5}


@pytest.fixture
def url(brand):
    return f"/api/v1/programs/{brand.program(sub_affiliate_percent=2)}/sub-affiliate-config"


def _read_setting(brand):
    return brand.rows("select sub_affiliate_enabled, sub_affiliate_percent::int from program")


def test_owners_change_is_audited_with_its_actor(brand, url):
    owner = brand.person("Owner")

    answer = owner.call("PUT", url, SETTING)

    assert (answer.status_code, answer.json) == (200, SETTING)
    entries = brand.rows("select action, actor_type, actor_label, before, after from audit_entry")
    assert entries == [
        (
            "program.sub_affiliate_config_changed",
            "member",
            "owner@example.com",
            {"enabled": False, "percent": 2},
            SETTING,
        )
    ]


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
@pytest.mark.parametrize("is_email_verified", [True, False])
def test_other_roles_may_only_read(brand, url, role, is_email_verified):
    person = brand.person(role, is_email_verified=is_email_verified)

    answer = person.call("PUT", url, SETTING)

    assert (answer.status_code, answer.data) == (403, b"")
    assert person.get(url).json == {"enabled": False, "percent": 2}
    assert _read_setting(brand) == [(False, 2)]
    assert brand.rows("select count(*) from audit_entry") == [(0,)]


def test_owner_with_an_unverified_email_returns_email_verification_required(brand, url):
    owner = brand.person("Owner", is_email_verified=False)

    answer = owner.call("PUT", url, SETTING)

    assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")
    assert owner.get(url).status_code == 200
    assert _read_setting(brand) == [(False, 2)]


@pytest.mark.parametrize("body", [SETTING, {}, b"{"])
def test_read_key_is_refused_with_the_missing_scope_for_any_body(brand, url, body):
    answer = brand.other_key(scope="read").call("PUT", url, body)

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]
    assert _read_setting(brand) == [(False, 2)]


def test_write_key_may_change_the_setting(brand, url):
    assert brand.call("PUT", url, SETTING).status_code == 200
    assert brand.rows("select actor_type from audit_entry") == [("api_key",)]


def test_other_tenants_owner_gets_404(brand, rival, url):
    answer = rival.person("Owner").call("PUT", url, SETTING)

    assert (answer.status_code, answer.data) == (404, b"")
    assert _read_setting(brand) == [(False, 2)]


def test_repeated_idempotency_key_changes_the_setting_once(brand, url):
    owner = brand.person("Owner")

    answers = [owner.call("PUT", url, SETTING, Idempotency_Key="once") for _ in range(2)]

    assert answers[0].data == answers[1].data
    assert brand.rows("select count(*) from audit_entry") == [(1,)]
