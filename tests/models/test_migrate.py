"""The migrations on a database of their own, and the classes of rows beside what the migrations made."""

import dataclasses
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import psycopg2
import pytest

import models
from models import db, migrate
from models.table import Table
from tests.support import databases

_UP = "import json, sys; from models import migrate; print(json.dumps(migrate.up(sys.argv[1])))"


# Two organizations, of which the first has sales with every amount, clicks, a tier and two groups; the other has leads.
_WITH_AMOUNTS = """
insert into organization (id, name, slug, plan_tier, subscription_status, home_currency, min_payout_cents) values
  ('00000000-0000-0000-0000-000000000001', 'A', 'a', 'Pro', 'Active', 'EUR', 5),
  ('00000000-0000-0000-0000-000000000002', 'B', 'b', 'Pro', 'Active', 'JPY', null);
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
  default_commission_model, budget_cents, min_payout_cents, lead_bounty_cents, click_reward_cents) values
  ('00000000-0000-0000-0000-000000000003', '00000000-0000-0000-0000-000000000001', 'P', 'a', 'Fixed', 1, 'Cps', 0, 0,
   1, 1),
  ('00000000-0000-0000-0000-000000000004', '00000000-0000-0000-0000-000000000001', 'P', 'b', 'Fixed', 1, 'Cpc', null,
   null, null, null),
  ('00000000-0000-0000-0000-000000000005', '00000000-0000-0000-0000-000000000002', 'P', 'c', 'Fixed', 1, 'Cpl', null,
   null, null, null);
insert into performance_tier values
  ('00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000003', 0, 'Percentage', 1);
insert into partner_group (id, organization_id, program_id, name, commission_type, commission_value) values
  (gen_random_uuid(), '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000003', 'a', 'Fixed', 1),
  (gen_random_uuid(), '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000003', 'b',
   'Percentage', 1);
"""


# Two organizations whose affiliates each have the slugs; which of the two links came first or ended is the test's.
_WITH_LINKS = """
insert into organization (id, name, slug, plan_tier, subscription_status) values
  ('00000000-0000-0000-0000-000000000001', 'A', 'a', 'Pro', 'Active'),
  ('00000000-0000-0000-0000-000000000002', 'B', 'b', 'Pro', 'Active');
insert into program (id, organization_id, name, slug, default_commission_type, default_commission_value,
  default_commission_model) select id, id, 'P', slug, 'Fixed', 1, 'Cps' from organization;
insert into affiliate (id, organization_id, program_id, email, email_normalized, status, source)
select id, id, id, 'a@example.com', 'a@example.com', 'Approved', 'Direct' from organization;
"""
_LINK = """
insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)
select gen_random_uuid(), id, id, id, '{}', false from organization where slug = '{}';
"""


def test_two_processes_at_once_apply_each_migration_once(empty_database):
    command = [sys.executable, "-c", _UP, empty_database]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]

    applied = [json.loads(start.communicate(timeout=250)[0]) for start in starts]

    assert sorted(len(names) for names in applied) == [0, 0, len(migrate.names())]
    assert sorted(name for names in applied for name in names) == migrate.names()
    assert all(migration.is_applied for migration in migrate.status(empty_database))


def test_runs_may_make_temporary_tables_where_the_database_takes_them_from_everybody(empty_database):
    name = empty_database.partition("?")[0].rpartition("/")[2]
    databases.run(empty_database, f"revoke temporary on database {name} from public")

    migrate.up(empty_database)

    query = "select has_database_privilege('finderfee_app', current_database(), 'temporary')"
    assert databases.rows(empty_database, query) == [(True,)]


def test_where_nobody_may_allow_them_the_migration_says_what_to_do(empty_database):
    name = empty_database.partition("?")[0].rpartition("/")[2]
    (privilege,) = [part for part in migrate.names() if part.startswith("0033_")]
    block = (Path(migrate.__file__).parent / "migrations" / f"{privilege}.sql").read_text().partition("do $$")[2]
    databases.run(empty_database, f"revoke temporary on database {name} from public")

    with pytest.raises(psycopg2.errors.InsufficientPrivilege) as refused:
        databases.run(empty_database, f"set role pg_monitor; do $${block}")

    assert refused.value.diag.message_hint == f"grant temporary on database {name} to finderfee_app"


def test_amounts_that_were_there_get_the_home_currency_of_their_organization(empty_database, monkeypatch):
    earlier = [name for name in migrate.names() if name < "0015"]
    monkeypatch.setattr(migrate, "names", lambda: earlier)
    migrate.up(empty_database)
    databases.run(empty_database, _WITH_AMOUNTS)
    monkeypatch.undo()

    migrate.up(empty_database)

    of_program = "budget_currency, min_payout_currency, lead_bounty_currency, click_reward_currency, fee_currency"
    assert databases.rows(empty_database, f"select {of_program} from program order by slug") == [
        ("EUR", "EUR", "EUR", "EUR", None),
        (None, None, None, None, "EUR"),
        (None, None, None, None, "JPY"),
    ]
    assert databases.rows(empty_database, "select min_payout_currency from organization order by slug") == [
        ("EUR",),
        (None,),
    ]
    assert databases.rows(empty_database, "select currency from performance_tier") == [("EUR",)]
    assert databases.rows(empty_database, "select commission_currency from partner_group order by name") == [
        ("EUR",),
        (None,),
    ]


def test_a_slug_that_was_there_is_whose_living_link_has_it_bare_and_else_whose_first_link_had_it(
    empty_database, monkeypatch
):
    earlier = [name for name in migrate.names() if name < "0040"]
    monkeypatch.setattr(migrate, "names", lambda: earlier)
    migrate.up(empty_database)
    end = "update tracking_link set deleted_at = now() where organization_id::text like '%{}' and slug = '{}';"
    databases.run(empty_database, _WITH_LINKS)
    for step in (
        *(_LINK.format(slug, first) for slug, first in (("alone", "b"), ("parked", "a"), ("taken-over", "a"))),
        _LINK.format("parked", "b"),
        end.format(1, "parked"),
        end.format(1, "taken-over"),
        _LINK.format("taken-over", "b"),
    ):
        databases.run(empty_database, step)
    monkeypatch.undo()

    migrate.up(empty_database)

    owners = "select slug, right(organization_id::text, 1) from bare_slug order by slug"
    assert databases.rows(empty_database, owners) == [("alone", "2"), ("parked", "1"), ("taken-over", "2")]


def test_a_pair_of_slugs_that_was_there_is_whose_it_leads_to_and_else_whose_first_link_had_it(
    empty_database, monkeypatch
):
    earlier = [name for name in migrate.names() if name < "0041"]
    monkeypatch.setattr(migrate, "names", lambda: earlier)
    migrate.up(empty_database)
    end = "update tracking_link set deleted_at = now() where organization_id::text like '%{}' and slug = '{}';"
    databases.run(empty_database, _WITH_LINKS)
    databases.run(empty_database, "update program set slug = 'tea'")
    for step in (
        *(_LINK.format(slug, one) for slug in ("both", "taken-over", "over") for one in "ba"),
        end.format(2, "taken-over"),
        *(end.format(one, "over") for one in (1, 2)),
        "insert into program_former_slug select id, 'old', id, now() from program where id::text like '%1'",
        _LINK.format("new", "a"),
    ):
        databases.run(empty_database, step)
    monkeypatch.undo()

    migrate.up(empty_database)

    owners = "select slug, right(organization_id::text, 1) from link_address where program_slug = '{}' order by slug"
    assert databases.rows(empty_database, owners.format("tea")) == [
        ("both", "2"),
        ("new", "1"),
        ("over", "2"),
        ("taken-over", "1"),
    ]
    assert databases.rows(empty_database, owners.format("old")) == [("both", "1"), ("over", "1"), ("taken-over", "1")]


def test_a_second_run_applies_nothing(empty_database):
    first = migrate.up(empty_database)
    second = migrate.up(empty_database)

    assert first[0] == "0001_tenancy"
    assert second == []


def test_the_status_of_an_empty_database_lists_every_migration_as_missing(empty_database):
    listed = migrate.status(empty_database)

    assert [migration.name for migration in listed] == migrate.names()
    assert not any(migration.is_applied for migration in listed)


def test_a_migration_that_fails_leaves_nothing_and_is_tried_again(empty_database):
    databases.run(empty_database, "create table program (id int)")  # in the way of the second migration

    with pytest.raises(psycopg2.Error, match="program"):
        migrate.up(empty_database)
    databases.run(empty_database, "drop table program")
    applied = migrate.up(empty_database)

    assert applied[0] == "0002_programs"
    assert all(migration.is_applied for migration in migrate.status(empty_database))


def test_a_database_that_was_never_migrated_misses_everything(app, empty_database):
    db.db.drop_connection()
    db.connect_to(empty_database)
    try:
        with db.any_org_work():
            missing = migrate.missing()
    finally:
        db.db.drop_connection()
        db.connect_to(os.environ["DATABASE_URL"])

    assert missing == migrate.names()


def _tables() -> list[Table[Any]]:
    modules = (importlib.import_module(found.name) for found in pkgutil.walk_packages(models.__path__, "models."))
    return [value for module in modules for value in vars(module).values() if isinstance(value, Table)]


# Forty kilobytes, which the one statement that needs them reads for itself.
_READ_ALONE = {("copilot_conversation", "tools", False)}


def test_a_row_has_exactly_the_columns_of_its_table(app):
    with db.any_org_work():
        in_database = db.db.run(
            "select table_name, column_name, is_nullable = 'YES', is_generated = 'NEVER'"
            " from information_schema.columns where table_schema = 'public'"
        )
    tables = {table.name: table.kind for table in _tables()}
    computed = {(table.name, name) for table in _tables() for name in table.computed}

    declared = {
        (name, field.name, NoneType in get_args(field.type))
        for name, kind in tables.items()
        for field in dataclasses.fields(kind)
        if (name, field.name) not in computed
    }

    assert "program" in tables
    assert declared <= {tuple(row) for *row, _ in in_database}
    # What the database itself makes of other columns is there for its indexes, and a row may leave it out.
    assert {tuple(row) for *row, is_written in in_database if row[0] in tables and is_written} <= (
        declared | _READ_ALONE
    )
