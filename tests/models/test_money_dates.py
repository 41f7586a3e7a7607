"""A date in a money table more than a minute ahead is replaced by the database's time, or is listed with a reason."""

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

# Tables whose amounts are not in the service's books.
_NO_MONEY = {
    "organization": "its amounts are settings",
    "program": "its amounts are settings",
    "restored_transfer": "it is a copy of a rail's own list, with the rail's dates",
    "sandbox_charge": "it simulates a rail",
    "sandbox_transfer": "it simulates a rail",
    "switch_item": "it is a preview, with the dates of the system that the brand leaves",
}
_SAME_CLOCK = "it is compared with other times of the same gateway's clock alone"
_DUE = "it is in the future by its meaning"
_UPDATED = "a trigger would lock every updated row of this table once more; the money it dates has a row of its own: a"
# Dates without a trigger, each with the reason. Decision 62 repeats them.
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
    """Return the table, the columns and the definition of each trigger."""
    cursor.execute(_TRIGGERS)
    return [
        (table, re.findall(r"'(\w+)'", definition.rpartition("say_database_time")[2]), definition)
        for table, _, definition in cursor.fetchall()
    ]


def test_every_date_of_a_money_table_has_a_trigger_or_a_reason(cursor):
    covered = {(table, column) for table, columns, _ in _triggers(cursor) for column in columns}
    cursor.execute(_DATES)
    dates = set(cursor.fetchall())
    reasons = {(table, column) for table, columns in _WITHOUT_TRIGGER.items() for column in columns}

    assert {(table, column) for table, column in dates - covered if table not in _NO_MONEY} == reasons


def test_trigger_replaces_dates_more_than_a_minute_ahead(cursor):
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
