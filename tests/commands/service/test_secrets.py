"""`flask secrets`: a new SECRET_KEY takes over from the former one, and nothing that was sealed is lost."""

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
from adapters import sealing
from adapters.identity.oidc import OidcTokens
from models import db
from models.upkeep import sealed_rows
from pipelines import key_rotation
from pipelines.affiliates import tax_form_files
from pipelines.leads import page_leads
from pipelines.organization import provider_sessions
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
    """Start over with other keys: the one in force, then former ones."""

    def start_with(key: str, *former: str) -> None:
        monkeypatch.setenv("SECRET_KEY", key)
        monkeypatch.setenv("SECRET_KEY_PREVIOUS", ",".join(former))
        settings.current.cache_clear()
        sealing.clear_caches()

    yield start_with
    monkeypatch.undo()
    settings.current.cache_clear()
    sealing.clear_caches()


@pytest.fixture
def lone_brand(app):
    """A database without the organizations of other tests, and a brand in it."""
    with databases.isolated_database():
        yield Brand.create(app)


@pytest.fixture
def everything(lone_brand):
    """A brand with one sealed value of every kind; it has two keys, and had two connections."""
    lone_brand.program(name="Spring")
    affiliate_id = lone_brand.affiliate("ben")
    lone_brand.other_key()
    lone_brand.endpoint("https://localhost/hook")
    invite(lone_brand)
    lone_brand.post("/api/v1/programs", {"name": "Autumn", **_TERMS}, Idempotency_Key="once")
    with db.any_org_work():
        tax_form_files.any_org_store(affiliate_id=affiliate_id, type="W9", content=b"%PDF-form", now=datetime.now(UTC))
        page_leads.any_org_stage(
            lead={"slug": "ben", "program_id": None}, visitor="00" * 16, network="00" * 16, now=datetime.now(UTC)
        )
        assert _session_of_a_provider() is not None
    with play_gateway() as stage, platforms.play_platform() as platform:
        switch_to_test_mode(stage)
        platforms.connect_platform(lone_brand.person(), platform)
        made = connect_gateway(lone_brand.person(), stage)
        path = f"/api/v1/connections/{made['id']}"
        assert lone_brand.person().call("PATCH", path, {"credentials": dict(stage.credentials)}).status_code == 200
    with play_gateway("shopify") as store:
        path = f"/api/v1/connections/{connect_gateway(lone_brand.person(), store)['id']}"
        assert lone_brand.person().call("DELETE", path).status_code == 204
    return lone_brand


def _session_of_a_provider() -> Any:
    given = OidcTokens({"sub": "ben", "exp": 1, "auth_time": 1}, refresh_token="ask again with this")
    about = {"issuer": "https://id.example.com", "cookie": None, "user_agent": "", "now": datetime.now(UTC)}
    return provider_sessions.any_org_start("account", given, **about)


_TERMS = {"defaultCommissionType": "Percentage", "defaultCommissionValue": 10}
_ONE_EACH = {
    "signing secrets of API keys": 2,
    "secrets of webhook endpoints": 1,
    "bodies of messages": 1,
    "tax forms": 1,
    "stored answers": 1,
    "leads in jobs": 1,
    "addresses of connections": 2,
    "credentials of connections": 2,
    "secrets made for connections": 2,
    "former credentials of connections": 1,
    "credentials of web pixels to delete": 1,
    "credentials of platforms": 1,
    "refresh tokens of sessions": 1,
}


def _counted(said: dict, how: str) -> dict[str, int]:
    return {one["kind"]: one[how] for one in said["sealed"]}


def _values() -> list[tuple[str, bytes, str]]:
    """Every sealed value there is: its kind, itself, and what it belongs to."""
    with db.any_org_work():
        return [
            (kind.name, row.sealed, row.belongs_to)
            for kind in sealed_rows.KINDS
            for row in sealed_rows.any_org_read_slice(kind, after=None, is_to_change=False)
        ]


def _opened() -> list[tuple[str, str]]:
    return [(kind, sealing.unseal(sealed, belongs_to=owner)) for kind, sealed, owner in _values()]


def test_a_new_key_takes_over_and_the_former_one_goes(everything, flask, keys):
    before = _opened()
    keys(_NEW, _FORMER)

    assert (_opened(), everything.sale().status_code) == (before, 200)
    assert _counted(flask.json("secrets", "status"), "former") == _ONE_EACH
    said = flask.json("secrets", "reseal")
    assert (said["resealed"], said["former"]) == (_ONE_EACH, 0)
    assert _counted(said, "current") == _ONE_EACH

    keys(_NEW)
    assert (_opened(), everything.sale().status_code) == (before, 200)
    assert everything.post("/api/v1/programs", {"name": "Autumn", **_TERMS}, Idempotency_Key="once").headers[
        "Idempotency-Replayed"
    ]


def test_what_is_sealed_meanwhile_is_sealed_with_the_new_key(everything, flask, keys):
    keys(_NEW, _FORMER)
    everything.other_key()

    counts = {one["kind"]: one for one in flask.json("secrets", "status")["sealed"]}

    assert (counts["signing secrets of API keys"]["current"], counts["signing secrets of API keys"]["former"]) == (1, 2)


def test_a_second_time_nothing_is_left_to_do_and_no_row_changes(everything, flask, keys):
    keys(_NEW, _FORMER)
    flask("secrets", "reseal")
    before = _values()

    said = flask.json("secrets", "reseal")

    assert set(said["resealed"].values()) == {0}
    assert _values() == before


def test_a_person_is_told_what_to_do_next(everything, flask, keys):
    keys(_NEW, _FORMER)

    assert "SECRET_KEY_PREVIOUS is still needed. Next: flask secrets reseal" in flask("secrets", "status")[1]
    said = flask("secrets", "reseal")[1]
    assert "Sealed with SECRET_KEY: 17 values." in said
    assert "Nothing needs SECRET_KEY_PREVIOUS." in said
    assert everything.rows("select 1") == [(1,)]


def test_it_is_in_the_audit_log(everything, flask, keys):
    keys(_NEW, _FORMER)
    flask("secrets", "reseal")

    with db.any_org_work():
        rows = db.db.run("select after, actor_type from audit_entry where action = 'secrets.resealed'")
    assert rows == [(_ONE_EACH, "operator")]


def test_a_dry_run_writes_nothing(everything, flask, keys):
    keys(_NEW, _FORMER)
    before = _values()

    said = flask.json("secrets", "reseal", "--dry-run")

    assert _counted(said, "former") == _ONE_EACH
    assert _values() == before


@pytest.mark.parametrize("former", [(), (_OTHER,)])
def test_with_a_wrong_key_nothing_is_written(everything, flask, keys, former):
    before = _values()
    keys(_NEW, *former)

    code, said = flask("secrets", "reseal")

    assert code == 1
    assert said.startswith("Error: Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens 2 among the signing secrets of API")
    assert "Nothing was written." in said
    assert _NEW not in said
    assert _values() == before


def test_one_value_that_no_key_opens_any_more_holds_everything_up_until_it_is_left(everything, flask, keys):
    damaged = everything.rows("update webhook_endpoint set secret_sealed = '\\x01aa' returning organization_id, id")[0]
    keys(_NEW, _FORMER)

    refused, why = flask("secrets", "reseal")
    said = flask.json("secrets", "reseal", "--leave-unreadable")

    assert refused == 1
    assert f"1 among the secrets of webhook endpoints ({damaged[0]} {damaged[1]})" in why
    assert said["resealed"] == _ONE_EACH | {"secrets of webhook endpoints": 0}
    assert (said["former"], said["unreadable"]) == (0, 1)


def test_a_session_whose_refresh_token_no_key_opens_is_named(everything, flask, keys):
    with db.any_org_work():
        ((id_hash,),) = db.db.run("update web_session set refresh_sealed = '\\x01aa' returning id_hash")
    keys(_NEW, _FORMER)

    refused, why = flask("secrets", "reseal")

    assert refused == 1
    assert f"1 among the refresh tokens of sessions ({bytes(id_hash).hex()})" in why


class Stopped(Exception):
    """The operator pressed a key."""


def test_stopped_in_the_middle_it_goes_on_where_it_was(everything, flask, keys, monkeypatch):
    monkeypatch.setattr(sealed_rows, "KINDS", tuple(_by_ones(kind) for kind in sealed_rows.KINDS))
    keys(_NEW, _FORMER)

    def stop(kind: str, number: int) -> None:
        if kind == "bodies of messages":
            raise Stopped

    with pytest.raises(Stopped):
        key_rotation.reseal(leave_unreadable=False, on_progress=stop)
    between = {one.kind: one.former for one in key_rotation.status()}
    resealed = flask.json("secrets", "reseal")["resealed"]

    assert between == _ONE_EACH | dict.fromkeys(list(_ONE_EACH)[:3], 0)
    assert resealed == between


def _by_ones(kind: Any) -> Any:
    import dataclasses

    return dataclasses.replace(kind, at_once=1)


def test_a_row_that_somebody_is_at_work_on_is_left_for_the_next_time(everything, flask, keys):
    keys(_NEW, _FORMER)
    with closing(psycopg2.connect(os.environ["DATABASE_OWNER_URL"].replace("?", "_alone?", 1))) as other:
        with other.cursor() as cursor:
            cursor.execute("select from job for update")
        busy = flask.json("secrets", "reseal")
        other.rollback()  # a connection that is closed lets go some time later
    afterwards = flask.json("secrets", "reseal")

    assert busy["former"] == 1
    assert afterwards["resealed"] == dict.fromkeys(_ONE_EACH, 0) | {"leads in jobs": 1}


def test_two_at_once_reseal_everything_once(everything, keys):
    keys(_NEW, _FORMER)

    def reseal() -> dict[str, int]:
        try:
            return key_rotation.reseal(leave_unreadable=False, on_progress=lambda *_: None)
        finally:
            db.db.drop_connection()

    with ThreadPoolExecutor(2) as pool:
        found = [one.result() for one in [pool.submit(reseal) for _ in range(2)]]

    keys(_NEW)
    assert len(_opened()) == 17
    assert sum(sum(one.values()) for one in found) == 17


def test_every_place_with_a_sealed_value_is_a_kind(lone_brand):
    with db.any_org_work():
        named = db.db.run("select table_name, column_name from information_schema.columns where column_name ~ 'sealed'")
    held = {(kind.table, kind.sealed) for kind in sealed_rows.KINDS}
    sealing_files = {
        str(path.relative_to(_ROOT))
        for folder in ("adapters", "api", "commands", "models", "pipelines", "workers")
        for path in (_ROOT / folder).rglob("*.py")
        if re.search(r"sealing\.seal\(", path.read_text())
    }

    assert set(named) <= held
    # What lives for minutes is sealed by the key of its moment, and ends before anybody retires that key.
    short_lived = {
        "api/saved_forms.py",
        "api/mcp/tool_calls/confirmations.py",
        "api/provider_sign_in.py",
        "pipelines/organization/sign_in_emails.py",
    }
    # Whoever seals in another file adds a kind, and the file here.
    assert sealing_files - short_lived == {
        "api/edge/idempotency.py",
        "pipelines/leads/page_leads.py",
        "pipelines/automation/hooks.py",
        "pipelines/webhooks/manage.py",
        "pipelines/organization/key_creation.py",
        "pipelines/organization/provider_sessions.py",
        "pipelines/mail.py",
        "pipelines/credentials.py",
        "pipelines/gateways/connect.py",
        "pipelines/affiliates/tax_form_files.py",
    }


def test_a_list_goes_on_where_it_was(lone_brand, keys):
    for name in ("a", "b"):
        lone_brand.program(name=name)
    first = lone_brand.get("/api/v1/programs?take=1").json
    path = f"/api/v1/programs?take=1&cursor={first['nextCursor']}"

    keys(_NEW, _FORMER)
    while_listed = lone_brand.get(path)
    keys(_NEW)

    assert (while_listed.status_code, while_listed.json["items"] != first["items"]) == (200, True)
    # The key of the caller is sealed with the former one, but nobody asks for its signing secret here.
    assert lone_brand.get(path).status_code == 400
