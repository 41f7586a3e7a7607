"""Fresh selects lock their tables before they take their snapshot."""

import os

import pytest

from models import db
from models.prepared_statements import FreshSelect, PreparedStatement
from tests.models.upgrades import rewriting
from tests.models.upgrades.test_rewrites import prepared_selects
from tests.support import databases
from tests.support.running.trips import record_round_trips

_LOCKED = """
select relname from pg_locks l join pg_class c on c.oid = l.relation
where l.pid = pg_backend_pid() and relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
  and not relispartition
"""


def _locked_tables(cursor, *statements):
    cursor.execute("begin")
    for statement in statements:
        cursor.execute(*statement)
    cursor.execute(_LOCKED)
    names = {name for (name,) in cursor.fetchall()}
    cursor.execute("rollback")
    return names


def test_every_fresh_select_locks_the_tables_that_it_reads(app):
    statements = {
        name: statement for name, statement in prepared_selects().items() if isinstance(statement, FreshSelect)
    }
    assert len(statements) > 20
    with databases.owner_cursor(os.environ["DATABASE_OWNER_URL"]) as cursor:
        for name, statement in statements.items():
            cursor.execute(statement.prepare)
            read = _locked_tables(cursor, (statement.execute, [None] * statement.execute.count("%s")))

            # A function that is not called locks nothing.
            assert read | set(statement.also) == set(statement.tables), name
            assert _locked_tables(cursor, (statement.prefix,)) == set(statement.tables), name


@pytest.mark.parametrize(("kind", "expected"), [(PreparedStatement, []), (FreshSelect, [("Campaign",)])])
def test_only_a_fresh_select_sees_its_row_across_a_rewrite(brand, kind, expected):
    brand.program()
    statement = kind("select name from program where id = %s")

    def names():
        with db.unit_of_work(brand.id):
            return db.db.run(statement, brand.programs)

    assert rewriting.answer_across_rewrite("program", names) == expected


@pytest.mark.parametrize("is_pooled", [False, True])
def test_fresh_select_costs_no_round_trip(brand, monkeypatch, is_pooled):
    monkeypatch.setattr(db.db, "is_pooled", is_pooled)
    brand.program()
    with db.unit_of_work(brand.id):
        statement = FreshSelect("select name from program where id = %s")
        db.db.run(statement, brand.programs)  # prepared
        with record_round_trips() as round_trips:
            assert db.db.run(statement, brand.programs) == [("Campaign",)]

    assert len(round_trips) == 1
