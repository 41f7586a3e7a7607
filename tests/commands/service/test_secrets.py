"""`flask secrets`: a new SECRET_KEY replaces the former one, and no sealed value is lost."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg2
import pytest

import settings
from adapters.identity.oidc import OidcTokens
from adapters.secret_key import sealing
from models import db
from models.upkeep import sealed_rows
from pipelines import key_rotation
from pipelines.affiliates import tax_form_files
from pipelines.leads import page_leads
from pipelines.organization import provider_sessions, second_factor, sign_in_emails
from tests.support import databases
from tests.support.api.invite_requests import invite
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway, switch_to_test_mode
from tests.support.platforms import platform_connections as platforms
from tests.support.rows.brands import Brand

_NEW, _OTHER = "the new key which is long enough too", "a key that never sealed anything here"
_FORMER = os.environ["SECRET_KEY"]
_ROOT = Path(__file__).parents[3]


@pytest.fixture
def keys(monkeypatch):
    """Yield a function that sets the keys: the current one, then the former ones."""

    def set_keys(key: str, *former: str) -> None:
        monkeypatch.setenv("SECRET_KEY", key)
        monkeypatch.setenv("SECRET_KEY_PREVIOUS", ",".join(former))
        settings.current.cache_clear()
        sealing.clear_caches()

    yield set_keys
    monkeypatch.undo()
    settings.current.cache_clear()
    sealing.clear_caches()


@pytest.fixture
def isolated_brand(app):
    """Yield a brand in a database without the organizations of other tests."""
    with databases.isolated_database():
        yield Brand.create(app)


@pytest.fixture
def sealed_brand(isolated_brand):
    """Return a brand with a sealed value of every kind: it has two keys, and had two connections."""
    isolated_brand.program(name="Spring")
    affiliate_id = isolated_brand.affiliate("ben")
    isolated_brand.other_key()
    isolated_brand.endpoint("https://localhost/hook")
    invite(isolated_brand)
    isolated_brand.post("/api/v1/programs", {"name": "Autumn", **_TERMS}, Idempotency_Key="once")
    with db.any_org_work():
        tax_form_files.any_org_store(affiliate_id=affiliate_id, type="W9", content=b"%PDF-form", now=datetime.now(UTC))
        page_leads.any_org_stage(
            lead={"slug": "ben", "program_id": None}, visitor="00" * 16, network="00" * 16, now=datetime.now(UTC)
        )
        sign_in_emails.any_org_stage_request(email="ben@example.com", browser_secret="a cookie", back=None)
        second_factor.start("ben@example.com", now=datetime.now(UTC))
        assert _start_provider_session() is not None
    with play_gateway() as gateway, platforms.play_platform() as platform:
        switch_to_test_mode(gateway)
        platforms.connect_platform(isolated_brand.person(), platform)
        path = f"/api/v1/connections/{connect_gateway(isolated_brand.person(), gateway)['id']}"
        new_credentials = {"credentials": dict(gateway.credentials)}
        assert isolated_brand.person().call("PATCH", path, new_credentials).status_code == 200
    with play_gateway("shopify") as store:
        path = f"/api/v1/connections/{connect_gateway(isolated_brand.person(), store)['id']}"
        assert isolated_brand.person().call("DELETE", path).status_code == 204
    return isolated_brand


def _start_provider_session() -> Any:
    provider_tokens = OidcTokens({"sub": "ben", "exp": 1, "auth_time": 1}, refresh_token="a refresh token")
    request = {"issuer": "https://id.example.com", "cookie": None, "user_agent": "", "now": datetime.now(UTC)}
    return provider_sessions.any_org_start("account", provider_tokens, **request)


_TERMS = {"defaultCommissionType": "Percentage", "defaultCommissionValue": 10}
_SEALED_COUNTS = {
    "signing secrets of API keys": 2,
    "secrets of webhook endpoints": 1,
    "bodies of messages": 1,
    "tax forms": 1,
    "credentials of switches": 0,
    "stored answers": 1,
    "sealed arguments of jobs": 2,
    "secrets of second factors": 1,
    "addresses of connections": 2,
    "credentials of connections": 2,
    "secrets made for connections": 2,
    "former credentials of connections": 1,
    "credentials of web pixels to delete": 1,
    "credentials of platforms": 1,
    "refresh tokens of sessions": 1,
}


def _count_by_kind(report: dict, field: str) -> dict[str, int]:
    return {row["kind"]: row[field] for row in report["sealed"]}


def _sealed_values() -> list[tuple[str, bytes, str]]:
    """Return the kind, the sealed bytes and the owner of every sealed value."""
    with db.any_org_work():
        return [
            (kind.name, row.sealed, row.belongs_to)
            for kind in sealed_rows.KINDS
            for row in sealed_rows.any_org_read_slice(kind, after=None, is_to_change=False)
        ]


def _unseal_all() -> list[tuple[str, str]]:
    return [(kind, sealing.unseal(sealed, belongs_to=owner)) for kind, sealed, owner in _sealed_values()]


def test_reseal_replaces_the_former_key(sealed_brand, flask, keys):
    before = _unseal_all()
    keys(_NEW, _FORMER)

    assert (_unseal_all(), sealed_brand.sale().status_code) == (before, 200)
    assert _count_by_kind(flask.json("secrets", "status"), "former") == _SEALED_COUNTS
    report = flask.json("secrets", "reseal")
    assert (report["resealed"], report["former"]) == (_SEALED_COUNTS, 0)
    assert _count_by_kind(report, "current") == _SEALED_COUNTS

    keys(_NEW)
    assert (_unseal_all(), sealed_brand.sale().status_code) == (before, 200)
    assert sealed_brand.post("/api/v1/programs", {"name": "Autumn", **_TERMS}, Idempotency_Key="once").headers[
        "Idempotency-Replayed"
    ]


def test_new_values_are_sealed_with_the_new_key(sealed_brand, flask, keys):
    keys(_NEW, _FORMER)
    sealed_brand.other_key()

    counts = {row["kind"]: row for row in flask.json("secrets", "status")["sealed"]}

    assert (counts["signing secrets of API keys"]["current"], counts["signing secrets of API keys"]["former"]) == (1, 2)


def test_second_reseal_changes_no_row(sealed_brand, flask, keys):
    keys(_NEW, _FORMER)
    flask("secrets", "reseal")
    before = _sealed_values()

    report = flask.json("secrets", "reseal")

    assert set(report["resealed"].values()) == {0}
    assert _sealed_values() == before


def test_output_prints_the_next_step(sealed_brand, flask, keys):
    keys(_NEW, _FORMER)

    assert "SECRET_KEY_PREVIOUS is still needed. Next: flask secrets reseal" in flask("secrets", "status")[1]
    output = flask("secrets", "reseal")[1]
    assert "Sealed with SECRET_KEY: 19 values." in output
    assert "Nothing needs SECRET_KEY_PREVIOUS." in output
    assert sealed_brand.rows("select 1") == [(1,)]


def test_reseal_is_audited(sealed_brand, flask, keys):
    keys(_NEW, _FORMER)
    flask("secrets", "reseal")

    with db.any_org_work():
        rows = db.db.run("select after, actor_type from audit_entry where action = 'secrets.resealed'")
    assert rows == [(_SEALED_COUNTS, "operator")]


def test_dry_run_writes_nothing(sealed_brand, flask, keys):
    keys(_NEW, _FORMER)
    before = _sealed_values()

    report = flask.json("secrets", "reseal", "--dry-run")

    assert _count_by_kind(report, "former") == _SEALED_COUNTS
    assert _sealed_values() == before


@pytest.mark.parametrize("former", [(), (_OTHER,)])
def test_wrong_former_key_writes_nothing(sealed_brand, flask, keys, former):
    before = _sealed_values()
    keys(_NEW, *former)

    code, output = flask("secrets", "reseal")

    assert code == 1
    assert output.startswith(
        "Error: Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens 2 among the signing secrets of API"
    )
    assert "Nothing was written." in output
    assert _NEW not in output
    assert _sealed_values() == before


def test_unreadable_value_blocks_resealing_unless_left(sealed_brand, flask, keys):
    damaged = sealed_brand.rows("update webhook_endpoint set secret_sealed = '\\x01aa' returning organization_id, id")[
        0
    ]
    keys(_NEW, _FORMER)

    code, output = flask("secrets", "reseal")
    report = flask.json("secrets", "reseal", "--leave-unreadable")

    assert code == 1
    assert f"1 among the secrets of webhook endpoints ({damaged[0]} {damaged[1]})" in output
    assert report["resealed"] == _SEALED_COUNTS | {"secrets of webhook endpoints": 0}
    assert (report["former"], report["unreadable"]) == (0, 1)


def test_session_with_an_unreadable_refresh_token_is_reported(sealed_brand, flask, keys):
    with db.any_org_work():
        ((id_hash,),) = db.db.run("update web_session set refresh_sealed = '\\x01aa' returning id_hash")
    keys(_NEW, _FORMER)

    code, output = flask("secrets", "reseal")

    assert code == 1
    assert f"1 among the refresh tokens of sessions ({bytes(id_hash).hex()})" in output


class Interruption(Exception):
    """The operator pressed Ctrl-C."""


def test_interrupted_reseal_continues_where_it_stopped(sealed_brand, flask, keys, monkeypatch):
    monkeypatch.setattr(sealed_rows, "KINDS", tuple(_with_batches_of_one(kind) for kind in sealed_rows.KINDS))
    keys(_NEW, _FORMER)

    def stop(kind: str, number: int) -> None:
        if kind == "bodies of messages":
            raise Interruption

    with pytest.raises(Interruption):
        key_rotation.reseal(leave_unreadable=False, on_progress=stop)
    between = {count.kind: count.former for count in key_rotation.status()}
    resealed = flask.json("secrets", "reseal")["resealed"]

    assert between == _SEALED_COUNTS | dict.fromkeys(list(_SEALED_COUNTS)[:3], 0)
    assert resealed == between


def _with_batches_of_one(kind: Any) -> Any:
    import dataclasses

    return dataclasses.replace(kind, at_once=1)


def test_locked_row_is_left_for_the_next_reseal(sealed_brand, flask, keys):
    keys(_NEW, _FORMER)
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"].replace("?", "_isolated?", 1))) as other:
        with other.cursor() as cursor:
            cursor.execute("select from job for update")
        while_locked = flask.json("secrets", "reseal")
        other.rollback()  # closing the connection would release the lock only some time later
    afterwards = flask.json("secrets", "reseal")

    assert while_locked["former"] == 2
    assert afterwards["resealed"] == dict.fromkeys(_SEALED_COUNTS, 0) | {"sealed arguments of jobs": 2}


def test_concurrent_reseals_reseal_each_value_once(sealed_brand, keys):
    keys(_NEW, _FORMER)

    def reseal() -> dict[str, int]:
        try:
            return key_rotation.reseal(leave_unreadable=False, on_progress=lambda *_: None)
        finally:
            db.db.drop_connection()

    with ThreadPoolExecutor(2) as pool:
        counts = [future.result() for future in [pool.submit(reseal) for _ in range(2)]]

    keys(_NEW)
    assert len(_unseal_all()) == 19
    assert sum(sum(by_kind.values()) for by_kind in counts) == 19


def test_every_sealed_column_belongs_to_a_kind(isolated_brand):
    with db.any_org_work():
        columns = db.db.run(
            "select table_name, column_name from information_schema.columns where column_name ~ 'sealed'"
        )
    columns_of_kinds = {(kind.table, kind.sealed) for kind in sealed_rows.KINDS}
    sealing_files = {
        str(path.relative_to(_ROOT))
        for folder in ("adapters", "api", "commands", "models", "pipelines", "workers")
        for path in (_ROOT / folder).rglob("*.py")
        if re.search(r"sealing\.seal\(", path.read_text())
    }

    assert set(columns) <= columns_of_kinds
    # Values that live for minutes expire before an operator retires the key that sealed them.
    short_lived = {
        "api/saved_forms.py",
        "api/mcp/tool_calls/confirmations.py",
        "api/provider_sign_in.py",
        "pipelines/organization/sign_in_emails.py",
    }
    # Sealing in another file requires a kind in sealed_rows.KINDS, and the file in this list.
    assert sealing_files - short_lived == {
        "api/edge/idempotency.py",
        "pipelines/leads/page_leads.py",
        "pipelines/automation/hooks.py",
        "pipelines/webhooks/manage.py",
        "pipelines/organization/key_creation.py",
        "pipelines/organization/provider_sessions.py",
        "pipelines/organization/second_factor.py",
        "pipelines/organization/sessions.py",
        "pipelines/mail.py",
        "pipelines/credentials.py",
        "pipelines/gateways/connect.py",
        "pipelines/affiliates/tax_form_files.py",
    }


def test_list_cursor_stays_valid_while_its_key_is_former(isolated_brand, keys):
    for name in ("a", "b"):
        isolated_brand.program(name=name)
    first = isolated_brand.get("/api/v1/programs?take=1").json
    path = f"/api/v1/programs?take=1&cursor={first['nextCursor']}"

    keys(_NEW, _FORMER)
    while_former = isolated_brand.get(path)
    keys(_NEW)

    assert (while_former.status_code, while_former.json["items"] != first["items"]) == (200, True)
    # The caller's signing secret is sealed with the former key too, but this request does not need it.
    assert isolated_brand.get(path).status_code == 400
