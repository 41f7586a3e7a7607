"""Who may change the sub-affiliate setting of a program, through HTTP."""

import pytest

SENT = {"enabled": True, "percent": 5}


@pytest.fixture
def url(brand):
    return f"/api/v1/programs/{brand.program(sub_affiliate_percent=2)}/sub-affiliate-config"


def _setting(brand):
    return brand.rows("select sub_affiliate_enabled, sub_affiliate_percent::int from program")


def test_an_owner_changes_it_and_the_audit_log_says_who(brand, url):
    owner = brand.person("Owner")

    answer = owner.call("PUT", url, SENT)

    assert (answer.status_code, answer.json) == (200, SENT)
    entries = brand.rows("select action, actor_type, actor_label, before, after from audit_entry")
    assert entries == [
        (
            "program.sub_affiliate_config_changed",
            "member",
            "owner@example.com",
            {"enabled": False, "percent": 2},
            SENT,
        )
    ]


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
@pytest.mark.parametrize("is_email_verified", [True, False])
def test_any_other_role_is_refused_without_a_word_and_may_read(brand, url, role, is_email_verified):
    person = brand.person(role, is_email_verified=is_email_verified)

    answer = person.call("PUT", url, SENT)

    assert (answer.status_code, answer.data) == (403, b"")
    assert person.get(url).json == {"enabled": False, "percent": 2}
    assert _setting(brand) == [(False, 2)]
    assert brand.rows("select count(*) from audit_entry") == [(0,)]


def test_an_owner_whose_email_is_not_verified_is_told_to_verify_it(brand, url):
    owner = brand.person("Owner", is_email_verified=False)

    answer = owner.call("PUT", url, SENT)

    assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")
    assert owner.get(url).status_code == 200
    assert _setting(brand) == [(False, 2)]


@pytest.mark.parametrize("body", [SENT, {}, b"{"])
def test_a_reading_key_is_told_which_scope_it_lacks_before_its_body_is_looked_at(brand, url, body):
    answer = brand.other_key(scope="read").call("PUT", url, body)

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")
    assert "read_write" in answer.json["message"]
    assert _setting(brand) == [(False, 2)]


def test_a_key_needs_no_role_and_no_email(brand, url):
    assert brand.call("PUT", url, SENT).status_code == 200
    assert brand.rows("select actor_type from audit_entry") == [("api_key",)]


def test_an_owner_of_another_brand_finds_nothing(brand, rival, url):
    answer = rival.person("Owner").call("PUT", url, SENT)

    assert (answer.status_code, answer.data) == (404, b"")
    assert _setting(brand) == [(False, 2)]


def test_a_repeated_key_changes_it_once(brand, url):
    owner = brand.person("Owner")

    answers = [owner.call("PUT", url, SENT, Idempotency_Key="once") for _ in range(2)]

    assert answers[0].data == answers[1].data
    assert brand.rows("select count(*) from audit_entry") == [(1,)]
