"""How the tables lie on a PostgreSQL of several machines (Citus): by organization, on every machine, or on the first.

What has an `organization_id` is distributed by it, all of one organization on one machine. The rest is named here, with
the reason. A table that is not ready is refused, and then nothing is done: half of a schema cannot be joined.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from models.schema import owners

Placement = Literal["distributed", "reference", "local"]

_COPIED: Mapping[str, str] = {
    "organization": "every organization's rows name it, and strangers find it by its slug or host",
    "affiliate_account": "a person's, across organizations",
    "fx_rate": "the same for everybody",
    "link_address": "where a link leads is asked before it is known whose it is",
    "host_hold": "whose a host is, is asked before it is known",
    "bare_slug": "whose a slug is, is asked before it is known",
}
_AT_HOME: Mapping[str, str] = {
    "job": "the relay hands out the work of all organizations in turn",
    "queue_pause": "the relay's",
    "worker_process": "the relay's",
    "tick": "the scheduler's",
    "retention_run": "the service's own",
    "mail_pace": "the service's own",
    "migration": "the schema's own",
    "known_server": "about servers, not organizations",
    "restored_transfer": "known by the reference that its rail gave it, and of some no organization is known",
    "restore_listing": "about servers, not organizations",
    "audit_entry": "some of what operators do belongs to no organization",
    "rail_event": "known by the name that its rail gave it, and of some nobody knows whose they are",
    "stored_answer": "some belong to no organization",
    "web_session": "found by its cookie, and some belong to no organization",
    "sign_in_link": "found by its code, and some belong to no organization",
    "sign_in_letter": "belongs to an inbox",
}

_TABLES = """
select c.relname, a.attnotnull from pg_class c
left join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1
"""
# Also what a unique index does not hold itself: it is asked of each machine alone.
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
# A guard against `truncate` (32), for which there is no trigger per row, refuses it on every machine.
_ONCE_A_STATEMENT = """
select c.relname, t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid
where not t.tgisinternal and t.tgtype & 1 = 0 and t.tgtype & 32 = 0
  and c.relnamespace = 'public'::regnamespace and not c.relispartition
order by 1, 2
"""


@dataclass
class TablePlan:
    """Where a table is to lie and why, the statement that puts it there (None: it stays), and what speaks against."""

    table: str
    placement: Placement
    reason: str
    refers_to: set[str] = field(default_factory=set)
    refusals: list[str] = field(default_factory=list)
    statement: str | None = None


def of_database(owner_url: str) -> list[TablePlan]:
    """Return where each table is to lie and what is not ready."""
    with owners.connect(owner_url) as connection, connection.cursor() as cursor:
        return plan(cursor)


def distribute(owner_url: str, plans: Sequence[TablePlan]) -> bool:
    """Run the statements of plans that nothing speaks against; False where the server has no Citus. Idempotent."""
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
    """Return every table in the order in which they can be placed: what is referred to comes first."""
    plans = {name: _plan_table(name, has_owner=has_owner) for name, has_owner in _rows(cursor, _TABLES)}
    for table, index, is_whole in _rows(cursor, _UNIQUE):
        if plans[table].placement == "distributed" and not is_whole:
            plans[table].refusals.append(f"unique index {index} has no organization_id")
    for table, trigger in _rows(cursor, _ONCE_A_STATEMENT):
        if plans[table].placement == "distributed":
            plans[table].refusals.append(f"trigger {trigger} goes once per statement")
    for table, other, name, is_within in _rows(cursor, _REFERENCES):
        _refer(plans[table], plans[other], name, is_within=is_within)
    ordered = list(_in_order(plans))
    _state(ordered)
    return ordered


def _rows(cursor: Any, query: str) -> list[tuple[Any, ...]]:
    cursor.execute(query)
    rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _plan_table(name: str, *, has_owner: bool | None) -> TablePlan:
    if name in _COPIED:
        return TablePlan(name, "reference", _COPIED[name])
    if name in _AT_HOME:
        return TablePlan(name, "local", _AT_HOME[name])
    plan = TablePlan(name, "distributed", "each row belongs to one organization")
    if has_owner is None:
        plan.refusals.append("it has no organization_id, and nobody said where it is to lie")
    elif not has_owner:
        plan.refusals.append("organization_id may be null")
    return plan


def _refer(plan: TablePlan, other: TablePlan, name: str, *, is_within: bool) -> None:
    if plan is other:
        return
    plan.refers_to.add(other.table)
    if plan.placement == other.placement == "distributed" and not is_within:
        plan.refusals.append(f"foreign key {name} to {other.table} may cross organizations")
    elif plan.placement != "distributed" and other.placement == "distributed":
        plan.refusals.append(f"foreign key {name} leads from one machine to {other.table} on another")
    elif plan.placement != "local" and other.placement == "local":
        plan.refusals.append(f"foreign key {name} leads to {other.table}, which lies on the first machine alone")


def _in_order(plans: Mapping[str, TablePlan]) -> Iterator[TablePlan]:
    done: set[str] = set()
    waiting = sorted(plans.values(), key=lambda plan: (plan.placement != "reference", plan.table))
    while waiting:
        # A circle is left at the table that comes first.
        chosen = next((plan for plan in waiting if plan.refers_to <= done), waiting[0])
        waiting.remove(chosen)
        done.add(chosen.table)
        yield chosen


def _state(ordered: Sequence[TablePlan]) -> None:
    first: str | None = None
    for plan in ordered:
        if plan.placement == "reference":
            plan.statement = f"select create_reference_table('{plan.table}')"
        elif plan.placement == "distributed":
            together = f"'{first}'" if first else "'none'"
            plan.statement = (
                f"select create_distributed_table('{plan.table}', 'organization_id', colocate_with => {together})"
            )
            first = first or plan.table
