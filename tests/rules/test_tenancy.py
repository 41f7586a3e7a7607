"""The isolation of tenants in the database. Source: core spec, section 1 (multi-tenant)."""

import re
from pathlib import Path

import peewee
import pytest

import models
from models import db

# Tables without row-level security, and why.
_SHARED = {
    "migration": "what was applied to the schema: about the installation, not about a tenant",
    "fx_rate": "exchange rates that were published, the same for every tenant",
    "queue_pause": "the names of queues that an operator paused; the relay reads it for all tenants",
    "worker_process": "the processes of the installation and their heartbeats",
    "tick": "the scheduler's times; a tick works for all tenants",
    "mail_pace": "how many emails the installation sent in a minute, against its mail server's limit",
    "affiliate_account": "a person who is an affiliate of several tenants; a tenant reads them by its own affiliates",
    "second_factor": "the authenticator app of a person who may be in several tenants, asked before one is known",
    "recovery_code": "one-time codes of the same person",
    "sign_in_letter": "how many sign-in links an inbox was sent, counted before the tenant is known",
    "bare_slug": "which organization a slug belongs to, read by visitors' links before the tenant is known",
    "retention_run": "when the retention of each kind of rows ran, for all tenants",
    "known_server": "the database servers that this installation has run on",
    "restore_listing": "which lists of payment providers were compared after a restore, for all tenants",
}


@pytest.fixture
def tables(app):
    with db.any_org_work():
        rows = db.db.run(
            "select c.relname, c.relrowsecurity, c.relforcerowsecurity, pg_get_userbyid(c.relowner) from pg_class c"
            " join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public' and c.relkind in ('r', 'p')"
        )
    return {name: rest for name, *rest in rows}


def test_every_table_forces_row_level_security_or_has_a_reason(tables):
    unguarded = {name for name, (on, forced, _) in tables.items() if not (on and forced)}

    assert unguarded == set(_SHARED)


def test_table_without_row_level_security_has_only_the_lookup_tenant_column():
    with db.any_org_work():
        rows = db.db.run(
            "select attrelid::regclass::text from pg_attribute where attname = 'organization_id' and not attisdropped"
        )

    assert {name for (name,) in rows} & set(_SHARED) == {"bare_slug"}


def test_every_tenant_table_carries_its_organization(tables):
    with db.any_org_work():
        rows = db.db.run(
            "select attrelid::regclass::text from pg_attribute where attname = 'organization_id' and not attisdropped"
        )
    carrying = {name for (name,) in rows}

    assert set(tables) - set(_SHARED) - carrying == {"organization"}


def test_service_role_owns_no_table(tables):
    with db.any_org_work():
        role = db.db.row("select current_user")

    assert role == ("finderfee_app",)
    assert "finderfee_app" not in {owner for *_, owner in tables.values()}


def test_statement_without_tenant_sees_nothing(brand):
    brand.program()

    with db.db.transaction():
        counts = db.db.run("select count(*) from program")

    assert counts == [(0,)]


def test_unit_of_work_sees_only_its_tenant(brand, rival):
    brand.program()
    rival.program()

    assert brand.rows("select distinct organization_id from program") == [(brand.id,)]


def test_row_for_another_tenant_is_refused(brand, rival):
    program_id = rival.program()

    with pytest.raises(peewee.PeeweeException, match="row-level security"), db.unit_of_work(brand.id):
        db.db.run("insert into performance_tier values (%s, %s, 0, 'Fixed', 1, 'USD')", (rival.id, program_id))


def test_another_tenants_row_cannot_be_changed(brand, rival):
    rival.program()

    with db.unit_of_work(brand.id):
        changed = db.db.run("update program set name = 'mine' returning id")

    assert changed == []


def test_tenant_ends_with_its_transaction(brand):
    brand.program()
    with db.unit_of_work(brand.id):
        db.db.run("select 1")

    with db.db.transaction():
        counts = db.db.run("select count(*) from program")

    assert counts == [(0,)]


@pytest.mark.parametrize("statement", ["update ledger_entry set amount_cents = 1", "delete from ledger_entry"])
def test_ledger_refuses_changes(brand, drain, statement):
    brand.program()
    brand.affiliate("ben")
    brand.sale()
    drain()

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(brand.id):
        db.db.run(statement)


@pytest.mark.parametrize("statement", ["update audit_entry set action = 'x'", "delete from audit_entry"])
def test_audit_log_refuses_changes(brand, statement):
    brand.set(plan="Pro")
    with db.unit_of_work(brand.id):
        db.db.stage(
            "insert into audit_entry (id, organization_id, action, entity_type, entity_id, actor_type)"
            " values (gen_random_uuid(), %s, 'a', 'b', 'c', 'd')",
            (brand.id,),
        )

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(brand.id):
        db.db.run(statement)


_CHANGES_ROWS = re.compile(r"(?m)^(update|delete from) ")


def _changes_visible_rows_only(text: str) -> bool:
    """Return whether a migration changes rows without `app.any_org`: row security holds for its role too, so it would
    change no row and report no error."""
    first = _CHANGES_ROWS.search(text)
    return first is not None and "set local app.any_org = 'on';" not in text[: first.start()]


def test_data_migrations_change_rows_of_every_tenant():
    folder = Path(models.__file__).parent / "migrations"
    texts = {path.name: path.read_text() for path in folder.glob("*.sql")}

    assert [name for name, text in texts.items() if _changes_visible_rows_only(text)] == []
    assert _changes_visible_rows_only("alter table a add b int;\nupdate a set b = 1;")
    assert not _changes_visible_rows_only("set local app.any_org = 'on';\ndelete from a;")
