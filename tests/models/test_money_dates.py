"""Each date of a table of money becomes the database's where it is more than a minute ahead, or has a reason not to."""

import os
import re

import pytest

from tests.support import databases

_DATES = """
select t.table_name, c.column_name from information_schema.tables t
join information_schema.columns c using (table_schema, table_name)
where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type = 'timestamp with time zone'
  and (select not relispartition from pg_class where oid = t.table_name::regclass)
  and exists (
    select from information_schema.columns m
    where m.table_schema = 'public' and m.table_name = t.table_name and m.column_name like '%cents%'
  )
order by 1, 2
"""
_TRIGGERS = """
select tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) from pg_trigger
where tgfoid = 'say_database_time'::regproc order by 1, 2
"""

# Tables with amounts that are no money of the service's books.
_NO_MONEY = {
    "organization": "its amounts are settings",
    "program": "its amounts are settings",
    "restored_transfer": "it is a copy of a rail's own list, with the rail's dates",
    "sandbox_charge": "it plays a rail",
    "sandbox_transfer": "it plays a rail",
}
_SAME_CLOCK = "it is compared with other times of the same gateway's clock alone"
_DUE = "it is in the future by its meaning"
_UPDATED = "a trigger would lock every updated row of this table once more; the money it dates has a row of its own: a"
# Dates of tables with amounts that no trigger holds, each with the reason. Decision 62 repeats them.
_WITHOUT_TRIGGER = {
    "conversion": {
        "hold_until": _DUE,
        "refunded_at": f"{_UPDATED} refund",
        "disputed_at": f"{_UPDATED} dispute",
        "restored_at": f"{_UPDATED} refund",
    },
    "payout_line": {"reversed_at": f"{_UPDATED} reversal", "released_at": f"{_UPDATED} payout"},
    "sale": {"settled_at": f"{_UPDATED} conversion"},
    "gateway_payment": dict.fromkeys(("reread_at", "told_at"), _SAME_CLOCK),
    "gateway_order": {"told_at": _SAME_CLOCK},
    "gateway_refund": {"restored_at": f"{_UPDATED} refund"},
    "payout_run": {"hold_until": _DUE},
    "payout_proposal": {"closed_at": "it says that nobody decides any more, and no amount depends on it"},
    "payout": {"exported_at": "it says that a file was made, and no amount depends on it"},
    "deal_milestone": {"due_at": _DUE, "auto_release_at": _DUE},
}


@pytest.fixture
def cursor(app):
    with databases.owner_cursor(os.environ["DATABASE_OWNER_URL"]) as cursor:
        yield cursor


def _triggers(cursor):
    """Return table, columns and definition of each trigger."""
    cursor.execute(_TRIGGERS)
    return [
        (table, re.findall(r"'(\w+)'", definition.rpartition("say_database_time")[2]), definition)
        for table, _, definition in cursor.fetchall()
    ]


def test_every_date_of_a_table_of_money_has_a_trigger_or_a_reason(cursor):
    limited = {(table, column) for table, columns, _ in _triggers(cursor) for column in columns}
    cursor.execute(_DATES)
    dates = set(cursor.fetchall())
    reasons = {(table, column) for table, columns in _WITHOUT_TRIGGER.items() for column in columns}

    assert {(table, column) for table, column in dates - limited if table not in _NO_MONEY} == reasons


def test_every_trigger_limits_each_of_its_dates_and_no_other(cursor):
    triggers = _triggers(cursor)
    assert len(triggers) > 15
    for table, columns, definition in triggers:
        cursor.execute(f"begin; create temporary table copied (like {table}) on commit drop")
        cursor.execute(
            "select attname from pg_attribute where attrelid = 'copied'::regclass and attnum > 0 and attnotnull"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"alter table copied alter column {name} drop not null")
        cursor.execute(re.sub(r" ON \S+ FOR", " ON copied FOR", definition))
        for column in columns:
            cursor.execute(f"insert into copied ({column}) values (clock_timestamp() + interval '50 s')")
            cursor.execute(f"insert into copied ({column}) values (clock_timestamp() + interval '70 s')")
            ahead = f"select count(*) filter (where {column} > clock_timestamp() + interval '%s s') from copied"
            cursor.execute(ahead % 30)
            assert cursor.fetchone() == (1,), (table, column)
            cursor.execute(ahead % 55)
            assert cursor.fetchone() == (0,), (table, column)
            cursor.execute("truncate copied")
        cursor.execute("rollback")
