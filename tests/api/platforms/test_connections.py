"""Changing, checking and deleting a connection to a platform, and its audit log."""

import json
from uuid import uuid4

import pytest

from models import db
from tests.support.job_queues import drain
from tests.support.platforms.platform_connections import connect_platform

URL = "/api/v1/platforms"


@pytest.fixture
def owner(brand):
    """The brand's Owner, at the dashboard."""
    return brand.person("Owner")


@pytest.fixture
def path(owner, platform):
    """The path of the brand's connection."""
    return f"{URL}/{connect_platform(owner, platform)['id']}"


def _list_emails(brand):
    drain()
    return brand.rows("select recipient, subject from mail_message where kind = 'notification.connection_broken'")


def test_other_tenants_connection_returns_404(brand, rival, path):
    unknown_path = f"{URL}/{uuid4()}"
    for method, tail in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/check")):
        body = {"creditSales": False} if method == "PATCH" else None
        answers = [rival.person("Owner").call(method, f"{address}{tail}", body) for address in (path, unknown_path)]
        assert [answer.status_code for answer in answers] == [404, 404], (method, tail)
        assert [answer.json["error"] for answer in answers] == ["not_found", "not_found"]
    assert rival.get(URL).json["items"] == []
    assert brand.get(path).json["creditSales"] is True


@pytest.mark.parametrize("wrong", ["x", "%00", "ключ", "0" * 500])
def test_malformed_id_returns_404(brand, owner, wrong):
    assert brand.get(f"{URL}/{wrong}").status_code == 404
    for method in ("PATCH", "DELETE"):
        assert owner.call(method, f"{URL}/{wrong}", {}).status_code == 404


def test_settings_change_without_a_call_to_the_platform(brand, owner, platform, path):
    calls_before = len(platform.calls)
    changed = owner.call("PATCH", path, {"creditSales": False, "slugField": " partner "})
    assert (changed.status_code, changed.json["creditSales"], changed.json["slugField"]) == (200, False, "partner")
    usual = owner.call("PATCH", path, {"slugField": None})
    assert (usual.json["creditSales"], usual.json["slugField"]) == (False, "affiliate_slug")
    assert owner.call("PATCH", path, {"creditSales": True}).json["creditSales"] is True
    assert owner.call("PATCH", path, {}).json == brand.get(path).json
    assert len(platform.calls) == calls_before


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
def test_malformed_change_changes_nothing(brand, owner, path, body):
    before = brand.get(path).json
    assert owner.call("PATCH", path, body).status_code == 400
    assert brand.get(path).json == before


def test_refused_credentials_change_nothing(brand, owner, platform, path):
    before = brand.get(path).json
    refused = owner.call("PATCH", path, {"credentials": {"apiKey": "wrong"}, "creditSales": False})
    assert (refused.status_code, refused.json["error"]) == (422, "platform_credentials_refused")
    platform.faults.append("fail")
    unreachable = owner.call("PATCH", path, {"credentials": dict(platform.credentials)})
    assert (unreachable.status_code, unreachable.json["error"]) == (503, "platform_unreachable")
    assert brand.get(path).json == before
    assert owner.post(f"{path}/check").json["status"] == "Active"


def test_refusal_breaks_the_connection_and_emails_owners_once(brand, owner, platform, path):
    platform.faults.extend(["refuse", "refuse"])
    for _ in range(2):
        broken = owner.post(f"{path}/check")
        assert (broken.status_code, broken.json["status"]) == (200, "Broken")
        assert broken.json["lastError"] == "Invalid credentials."
    assert _list_emails(brand) == [("owner@example.com", "Connection broken: Kit refuses your credentials")]

    recovered = owner.post(f"{path}/check").json
    assert (recovered["status"], recovered["lastError"]) == ("Active", None)
    platform.faults.append("refuse")
    owner.post(f"{path}/check")
    assert len(_list_emails(brand)) == 2
    renewed = owner.call("PATCH", path, {"credentials": dict(platform.credentials)}).json
    assert (renewed["status"], renewed["lastError"]) == ("Active", None)


def test_unreachable_platform_does_not_break_the_connection(brand, owner, platform, path):
    platform.faults.append("fail")
    unreachable = owner.post(f"{path}/check")
    assert (unreachable.status_code, unreachable.json["error"]) == (503, "platform_unreachable")
    assert (brand.get(path).json["status"], brand.get(path).json["lastError"]) == ("Active", None)


def test_deleted_connection_is_gone_and_can_be_created_again(brand, owner, platform, path):
    assert owner.call("DELETE", path).status_code == 204
    for method, tail in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/check")):
        assert owner.call(method, f"{path}{tail}", {}).status_code == 404
    assert brand.rows("select count(*) from platform_connection") == [(0,)]
    assert f"{URL}/{connect_platform(owner, platform)['id']}" != path


def test_check_after_deletion_records_nothing(brand, owner, path):
    from adapters import clock
    from models.platforms import connections
    from pipelines.platforms import check
    from pipelines.platforms.check import CredentialCheck

    with db.unit_of_work(brand.id):
        (connection,) = connections.page(organization_id=brand.id, after=None, limit=1)
    owner.call("DELETE", path)
    with db.unit_of_work(brand.id):
        assert check.record(connection, CredentialCheck(refusal="no"), now=clock.now()) is None
    assert _list_emails(brand) == []


def test_audit_log_contains_changes_and_no_secret(brand, owner, platform, path):
    owner.call("PATCH", path, {"credentials": dict(platform.credentials), "creditSales": False})
    owner.call("DELETE", path)
    entries = brand.rows(
        "select action, before::text, after::text from audit_entry where action like 'platform.%%' order by created_at"
    )
    assert [action for action, _, _ in entries] == ["platform.created", "platform.changed", "platform.removed"]
    assert platform.credentials["apiKey"] not in json.dumps(entries)
    assert "creditSales" in entries[1][2]
