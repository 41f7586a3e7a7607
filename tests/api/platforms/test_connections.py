"""What is done with a connection to a platform: changed, checked, ended; and what of it the audit log keeps."""

import json
from uuid import uuid4

import pytest

from models import db
from tests.support.platforms.platform_connections import connect_platform

URL = "/api/v1/platforms"


@pytest.fixture
def owner(brand):
    """The brand's Owner, at the dashboard."""
    return brand.person("Owner")


@pytest.fixture
def path(owner, platform):
    """Where the brand's connection is."""
    return f"{URL}/{connect_platform(owner, platform)['id']}"


def _letters(brand):
    return brand.rows("select recipient, subject from mail_message where kind = 'platform.broken'")


def test_somebody_elses_connection_is_not_there(brand, rival, path):
    nobodys = f"{URL}/{uuid4()}"
    for method, tail in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/check")):
        body = {"creditSales": False} if method == "PATCH" else None
        found = [rival.person("Owner").call(method, f"{address}{tail}", body) for address in (path, nobodys)]
        assert [answer.status_code for answer in found] == [404, 404], (method, tail)
        assert [answer.json["error"] for answer in found] == ["not_found", "not_found"]
    assert rival.get(URL).json["items"] == []
    assert brand.get(path).json["creditSales"] is True


@pytest.mark.parametrize("wrong", ["x", "%00", "ключ", "0" * 500])
def test_an_id_that_is_none_is_not_there(brand, owner, wrong):
    assert brand.get(f"{URL}/{wrong}").status_code == 404
    for method in ("PATCH", "DELETE"):
        assert owner.call(method, f"{URL}/{wrong}", {}).status_code == 404


def test_crediting_and_the_field_are_changed_without_asking_the_platform(brand, owner, platform, path):
    asked = len(platform.calls)
    off = owner.call("PATCH", path, {"creditSales": False, "slugField": " partner "})
    assert (off.status_code, off.json["creditSales"], off.json["slugField"]) == (200, False, "partner")
    usual = owner.call("PATCH", path, {"slugField": None})
    assert (usual.json["creditSales"], usual.json["slugField"]) == (False, "affiliate_slug")
    assert owner.call("PATCH", path, {"creditSales": True}).json["creditSales"] is True
    assert owner.call("PATCH", path, {}).json == brand.get(path).json
    assert len(platform.calls) == asked


_WRONG = {
    "a list": [],
    "no flag": {"creditSales": "yes"},
    "no flag either": {"creditSales": 1},
    "null": {"creditSales": None},
    "a field that is no text": {"slugField": []},
    "a long field": {"slugField": "x" * 101},
    "NUL": {"slugField": "a\x00"},
    "a line": {"slugField": "a\tb"},
    "empty credentials": {"credentials": {}},
    "an unknown credential": {"credentials": {"apikey": "x"}},
    "an empty one": {"credentials": {"apiKey": ""}},
    "a number": {"credentials": {"apiKey": 7}},
    "no credentials": {"credentials": None},
}


@pytest.mark.parametrize("body", _WRONG.values(), ids=_WRONG)
def test_what_is_no_change_is_refused_and_changes_nothing(brand, owner, path, body):
    before = brand.get(path).json
    assert owner.call("PATCH", path, body).status_code == 400
    assert brand.get(path).json == before


def test_credentials_that_are_refused_change_nothing(brand, owner, platform, path):
    before = brand.get(path).json
    refused = owner.call("PATCH", path, {"credentials": {"apiKey": "wrong"}, "creditSales": False})
    assert (refused.status_code, refused.json["error"]) == (422, "platform_credentials_refused")
    platform.faults.append("fail")
    away = owner.call("PATCH", path, {"credentials": dict(platform.credentials)})
    assert (away.status_code, away.json["error"]) == (503, "platform_unreachable")
    assert brand.get(path).json == before
    assert owner.post(f"{path}/check").json["status"] == "Active"


def test_a_refusal_breaks_a_connection_and_its_owners_are_told_once(brand, owner, platform, path):
    platform.faults.extend(["refuse", "refuse"])
    for _ in range(2):
        broken = owner.post(f"{path}/check")
        assert (broken.status_code, broken.json["status"]) == (200, "Broken")
        assert broken.json["lastError"] == "Invalid credentials."
    assert _letters(brand) == [("owner@example.com", "Kit refuses the connection of Brand")]

    mended = owner.post(f"{path}/check").json
    assert (mended["status"], mended["lastError"]) == ("Active", None)
    platform.faults.append("refuse")
    owner.post(f"{path}/check")
    assert len(_letters(brand)) == 2
    renewed = owner.call("PATCH", path, {"credentials": dict(platform.credentials)}).json
    assert (renewed["status"], renewed["lastError"]) == ("Active", None)


def test_a_platform_that_is_away_breaks_nothing(brand, owner, platform, path):
    platform.faults.append("fail")
    away = owner.post(f"{path}/check")
    assert (away.status_code, away.json["error"]) == (503, "platform_unreachable")
    assert (brand.get(path).json["status"], brand.get(path).json["lastError"]) == ("Active", None)


def test_a_connection_that_is_removed_is_gone_and_can_be_made_anew(brand, owner, platform, path):
    assert owner.call("DELETE", path).status_code == 204
    for method, tail in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/check")):
        assert owner.call(method, f"{path}{tail}", {}).status_code == 404
    assert brand.rows("select count(*) from platform_connection") == [(0,)]
    assert f"{URL}/{connect_platform(owner, platform)['id']}" != path


def test_a_check_that_ends_after_the_connection_did_says_nothing_of_it(brand, owner, path):
    from adapters import clock
    from models.platforms import connections
    from pipelines.platforms import check
    from pipelines.platforms.check import CredentialCheck

    with db.unit_of_work(brand.id):
        (found,) = connections.page(organization_id=brand.id, after=None, limit=1)
    owner.call("DELETE", path)
    with db.unit_of_work(brand.id):
        assert check.record(found, CredentialCheck(refusal="no"), now=clock.now()) is None
    assert _letters(brand) == []


def test_the_audit_log_says_who_did_what_and_no_secret(brand, owner, platform, path):
    owner.call("PATCH", path, {"credentials": dict(platform.credentials), "creditSales": False})
    owner.call("DELETE", path)
    kept = brand.rows(
        "select action, before::text, after::text from audit_entry where action like 'platform.%%' order by created_at"
    )
    assert [action for action, _, _ in kept] == ["platform.created", "platform.changed", "platform.removed"]
    assert platform.credentials["apiKey"] not in json.dumps(kept)
    assert "creditSales" in kept[1][2]
