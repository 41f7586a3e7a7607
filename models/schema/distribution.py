"""Placement of the tables on a Citus cluster: distributed by organization, copied to every machine, or on the first.

A table with an `organization_id` is distributed by it, so that all rows of an organization are on one machine. All
other tables are listed here with the reason. If any table is not ready, nothing is changed: the tables of a
half-distributed schema cannot be joined.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from models.schema import owners

Placement = Literal["distributed", "reference", "local"]

_REFERENCE: Mapping[str, str] = {
    "organization": "rows of every organization refer to it, and visitors find it by its slug or host",
    "affiliate_account": "belongs to a person who may be in several organizations",
    "fx_rate": "the same for all organizations",
    "link_address": "a link is looked up before its organization is known",
    "host_hold": "a host is looked up before its organization is known",
    "bare_slug": "a slug is looked up before its organization is known",
}
_LOCAL: Mapping[str, str] = {
    "job": "the relay dispatches the jobs of all organizations in turn",
    "queue_pause": "belongs to the relay",
    "worker_process": "belongs to the relay",
    "tick": "belongs to the scheduler",
    "retention_run": "belongs to the service",
    "mail_pace": "belongs to the service",
    "migration": "belongs to the schema",
    "known_server": "about servers, not organizations",
    "restored_transfer": "found by the reference of its rail; some rows have no known organization",
    "restore_listing": "about servers, not organizations",
    "audit_entry": "some actions of operators belong to no organization",
    "rail_event": "found by the id of its rail; some rows have no known organization",
    "stored_answer": "some rows belong to no organization",
    "web_session": "found by its cookie; some rows belong to no organization",
    "sign_in_link": "found by its code; some rows belong to no organization",
    "sign_in_letter": "belongs to an email address",
    "second_factor": "belongs to a person who may be in several organizations",
    "recovery_code": "belongs to a person who may be in several organizations",
}

_TABLES = """
select c.relname, a.attnotnull from pg_class c
left join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1
"""
# Whether each unique index has organization_id among its key columns: each machine checks uniqueness only for itself.
_UNIQUE = """
select c.relname, i.relname, 'organization_id' = any(array(
  select attname from pg_attribute where attrelid = c.oid and attnum = any(x.indkey[0:x.indnkeyatts - 1])))
from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
where c.relnamespace = 'public'::regnamespace and not c.relispartition and x.indisunique order by 1, 2
"""
_REFERENCES = """
select c.relname, f.relname, o.conname,
  'organization_id' = any(array(
    select attname from pg_attribute where attrelid = o.conrelid and attnum = any(o.conkey)))
  and 'organization_id' = any(array(
    select attname from pg_attribute where attrelid = o.confrelid and attnum = any(o.confkey)))
from pg_constraint o join pg_class c on c.oid = o.conrelid join pg_class f on f.oid = o.confrelid
where o.contype = 'f' and o.conparentid = 0 and c.relnamespace = 'public'::regnamespace order by 1, 3
"""
# Triggers per statement. Those on `truncate` (32) are allowed: they cannot be per row, and refuse it on every machine.
_STATEMENT_TRIGGERS = """
select c.relname, t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid
where not t.tgisinternal and t.tgtype & 1 = 0 and t.tgtype & 32 = 0
  and c.relnamespace = 'public'::regnamespace and not c.relispartition
order by 1, 2
"""


@dataclass
class TablePlan:
    """A table's placement and its reason, the statement that moves it there (None: it stays), and what forbids it."""

    table: str
    placement: Placement
    reason: str
    refers_to: set[str] = field(default_factory=set)
    refusals: list[str] = field(default_factory=list)
    statement: str | None = None


def plan_database(owner_url: str) -> list[TablePlan]:
    """Return the plan of each table, in the order of placement."""
    with owners.connect(owner_url) as connection, connection.cursor() as cursor:
        return plan(cursor)


def distribute(owner_url: str, plans: Sequence[TablePlan]) -> bool:
    """Run the statements of plans without refusals; return False if the server has no Citus. Idempotent."""
    assert not any(plan.refusals for plan in plans)
    with owners.connect(owner_url) as connection, connection.cursor() as cursor:
        cursor.execute("select from pg_extension where extname = 'citus'")
        if not cursor.rowcount:
            return False
        cursor.execute("set citus.enable_unsafe_triggers = on")
        placed = {name for (name,) in _rows(cursor, "select logicalrelid::text from pg_dist_partition")}
        for plan in plans:
            if plan.statement and plan.table not in placed:
                cursor.execute(plan.statement)
    return True


def plan(cursor: Any) -> list[TablePlan]:
    """Return the plans of all tables in the order of placement: a table comes after those that it refers to."""
    plans = {name: _plan_table(name, is_id_required=is_required) for name, is_required in _rows(cursor, _TABLES)}
    for table, index, has_id in _rows(cursor, _UNIQUE):
        if plans[table].placement == "distributed" and not has_id:
            plans[table].refusals.append(f"unique index {index} has no organization_id")
    for table, trigger in _rows(cursor, _STATEMENT_TRIGGERS):
        if plans[table].placement == "distributed":
            plans[table].refusals.append(f"trigger {trigger} fires once per statement")
    for table, other, name, has_id in _rows(cursor, _REFERENCES):
        _add_reference(plans[table], plans[other], name, has_id=has_id)
    ordered = list(_sort_by_references(plans))
    _write_statements(ordered)
    return ordered


def _rows(cursor: Any, query: str) -> list[tuple[Any, ...]]:
    cursor.execute(query)
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _plan_table(name: str, *, is_id_required: bool | None) -> TablePlan:
    if name in _REFERENCE:
        return TablePlan(name, "reference", _REFERENCE[name])
    if name in _LOCAL:
        return TablePlan(name, "local", _LOCAL[name])
    plan = TablePlan(name, "distributed", "each row belongs to one organization")
    if is_id_required is None:  # there is no such column
        plan.refusals.append("it has no organization_id and no listed placement")
    elif not is_id_required:
        plan.refusals.append("organization_id may be null")
    return plan


def _add_reference(plan: TablePlan, other: TablePlan, name: str, *, has_id: bool) -> None:
    if plan is other:
        return
    plan.refers_to.add(other.table)
    if plan.placement == other.placement == "distributed" and not has_id:
        plan.refusals.append(f"foreign key {name} to {other.table} may cross organizations")
    elif plan.placement != "distributed" and other.placement == "distributed":
        plan.refusals.append(f"foreign key {name} refers from one machine to {other.table} on another")
    elif plan.placement != "local" and other.placement == "local":
        plan.refusals.append(f"foreign key {name} refers to {other.table}, which is only on the first machine")


def _sort_by_references(plans: Mapping[str, TablePlan]) -> Iterator[TablePlan]:
    done: set[str] = set()
    waiting = sorted(plans.values(), key=lambda plan: (plan.placement != "reference", plan.table))
    while waiting:
        # If the remaining tables refer to each other in a circle, the first one is taken.
        plan = next((ready for ready in waiting if ready.refers_to <= done), waiting[0])
        waiting.remove(plan)
        done.add(plan.table)
        yield plan


def _write_statements(ordered: Sequence[TablePlan]) -> None:
    first: str | None = None
    for plan in ordered:
        if plan.placement == "reference":
            plan.statement = f"select create_reference_table('{plan.table}')"
        elif plan.placement == "distributed":
            colocated = f"'{first}'" if first else "'none'"
            plan.statement = (
                f"select create_distributed_table('{plan.table}', 'organization_id', colocate_with => {colocated})"
            )
            first = first or plan.table
