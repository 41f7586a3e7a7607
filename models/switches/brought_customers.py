"""Customers of the former system: who is credited for their next payment here, and how many payments they made there.

`models.gateways.credit_sources.history` reads them as evidence of who brought a buyer. Their payments are counted in
`program_customer` with those of all other sources (decision 68), under the id of the switch in `import_customer`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from domain.conversions import customers as customer_names
from domain.conversions.customers import CustomerNames
from domain.switches.decisions import CustomerDecision
from models.conversions import customers
from models.db import db
from models.gateways import payments
from models.gateways.payments import Payer
from models.table import Table, unnest


@dataclass(frozen=True, slots=True)
class BroughtCustomer:
    """A customer by every name that the source gives; one of customer id, subscription id and email at least.

    `first_paid_at` is None and `payments` 0 for a lead who has not paid. `seen_at` is the newest payment there, else
    when they became a lead. Payments before `cut_over_at` were the former system's. `brought_payments` of the payments
    came over as commissions. `names_affiliate`: the customer's own row there names the affiliate. Times are aware UTC.
    """

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    switch_id: UUID
    source: str
    source_id: str
    customer_id: str | None
    subscription_id: str | None
    email: str | None
    email_normalized: str | None
    name: str | None
    first_paid_at: datetime | None
    payments: int
    seen_at: datetime
    cut_over_at: datetime
    created_at: datetime
    brought_payments: int = 0
    names_affiliate: bool = True


@dataclass(frozen=True, slots=True)
class BroughtCount:
    """Payments of one customer in the former system that count here, from 1; the first of them was at `first_paid_at`.

    The names are those of the customer's `BroughtCustomer`.
    """

    program_id: UUID
    customer_id: str | None
    subscription_id: str | None
    email: str | None
    first_paid_at: datetime
    payments: int


_TABLE = Table("brought_customer", BroughtCustomer)
_COLUMNS = tuple(field.name for field in fields(BroughtCustomer))
_KEPT = ("id", "organization_id", "switch_id", "created_at")
_UPSERT = f"""
insert into brought_customer ({", ".join(_COLUMNS)})
select * from {unnest(BroughtCustomer, _COLUMNS)}
on conflict (organization_id, id) do update
set {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS if name not in _KEPT)}
"""
_DELETE_ALL = "delete from brought_customer where organization_id = %s and id = any(%s)"
_OF_SOURCE = f"""
select {_TABLE.columns} from brought_customer
where organization_id = %s and program_id = any(%s) and source = %s and source_id = any(%s)
"""
# Many customers may share an email; so many of them say already that it is not certain who is meant.
_MAX_OF_NAME = 100
_BY_NAMES = " union ".join(
    f"""
select {_TABLE.columns} from unnest(%({column})s::text[]) as named (name_value)
cross join lateral (
  select * from brought_customer b where b.organization_id = %(org)s and b.{column} = named.name_value
    and b.source = %(source)s and b.program_id = any(%(programs)s) limit {_MAX_OF_NAME}
) brought"""
    for column in ("customer_id", "subscription_id", "email_normalized")
)
_BY_IDS = f"select {_TABLE.columns} from brought_customer where organization_id = %s and id = any(%s) order by id"


def stage_insert_all(rows: Sequence[BroughtCustomer]) -> None:
    """Stage the insert of brought customers of one organization.

    A customer whose id is there already gets the new values, but keeps the switch that first brought them: so a slice
    may be repeated, a later switch updates what it changed, and undo stages the former rows. Of several rows with one
    id the last counts.
    """
    distinct = list({row.id: row for row in rows}.values())
    if distinct:
        db.stage(_UPSERT, [[getattr(row, name) for row in distinct] for name in _COLUMNS])


def stage_delete_all(*, organization_id: UUID, ids: Sequence[UUID]) -> None:
    """Stage the deletion of brought customers. Their counts are taken back by `stage_uncount`."""
    db.stage(_DELETE_ALL, (organization_id, list(ids)))


def find_of_source(
    *, organization_id: UUID, program_ids: Sequence[UUID], source: str, source_ids: Sequence[str]
) -> list[BroughtCustomer]:
    """Return the customers that earlier switches from this source brought under these ids of the source."""
    return _TABLE.all(_OF_SOURCE, (organization_id, list(program_ids), source, list(source_ids)))


def find_by_names(
    *,
    organization_id: UUID,
    program_ids: Sequence[UUID],
    source: str,
    customer_ids: Sequence[str],
    subscription_ids: Sequence[str],
    inboxes: Sequence[str],
) -> list[BroughtCustomer]:
    """Return the customers that earlier switches from this source brought under one of these names."""
    params = {
        "org": organization_id,
        "programs": list(program_ids),
        "source": source,
        "customer_id": list(customer_ids),
        "subscription_id": list(subscription_ids),
        "email_normalized": list(inboxes),
    }
    return _TABLE.all(_BY_NAMES, params)


def list_by_ids(*, organization_id: UUID, ids: Sequence[UUID]) -> list[BroughtCustomer]:
    """Return brought customers by id, in the order of their ids."""
    return _TABLE.all(_BY_IDS, (organization_id, list(ids)))


def list_counts(decisions: Iterable[CustomerDecision]) -> list[BroughtCount]:
    """Return the payments that decisions add; those that add none are left out."""
    return [
        BroughtCount(
            program_id=decision.program_id,
            customer_id=decision.processor_customer_id,
            subscription_id=decision.processor_subscription_id,
            email=decision.email,
            first_paid_at=decision.first_paid_at,
            payments=decision.added_payments,
        )
        for decision in decisions
        if decision.first_paid_at is not None and decision.added_payments > 0
    ]


def stage_reopening(rows: Sequence[BroughtCustomer], *, organization_id: UUID) -> None:
    """Stage that payments of these customers since their cut-over which credited no one are booked again."""
    buyers = [(Payer(row.customer_id, row.subscription_id, row.email_normalized), row.cut_over_at) for row in rows]
    payments.stage_reopening(buyers, organization_id=organization_id, is_test=False)


_COUNT = """
select count(*) from unnest(%(id_names)s::text[], %(other_names)s::text[], %(email_names)s::text[], %(inboxes)s::text[],
  %(subscription_names)s::text[], %(times)s::timestamptz[], %(numbers)s::int[]) with ordinality
  as brought (id_name, other_name, email_name, inbox, subscription_name, first_paid_at, number, place)
cross join lateral count_brought(%(org)s, %(program)s, brought.id_name, brought.other_name, brought.email_name,
  brought.inbox, brought.subscription_name, brought.first_paid_at, %(switch)s, brought.number) counted
"""
_UNCOUNT = """
select count(*) from unnest(%(id_names)s::text[], %(other_names)s::text[], %(email_names)s::text[],
  %(subscription_names)s::text[], %(numbers)s::int[]) with ordinality
  as brought (id_name, other_name, email_name, subscription_name, number, place)
cross join lateral uncount_brought(%(org)s, %(program)s, brought.id_name, brought.other_name, brought.email_name,
  brought.subscription_name, %(switch)s, brought.number) counted
"""


def stage_counts(counts: Sequence[BroughtCount], *, organization_id: UUID, switch_id: UUID) -> None:
    """Stage the count of payments that customers made in the former system, as an import counts them.

    Each call adds: a repeated slice must not stage its counts again. The names are locked as by an import.
    """
    for program_id, chosen, names in _by_program(counts):
        at = min(count.first_paid_at for count in chosen)
        customers.stage_new_names(_list_names(names), organization_id=organization_id, program_id=program_id, at=at)
        params = _params(chosen, names, organization_id=organization_id, program_id=program_id, switch_id=switch_id)
        db.stage(_COUNT, params)


def stage_uncount(counts: Sequence[BroughtCount], *, organization_id: UUID, switch_id: UUID) -> None:
    """Stage that payments which `stage_counts` added for the same switch no longer count.

    Names that nothing else uses are deleted. The first payment is then the earliest of those that remain.
    """
    for program_id, chosen, names in _by_program(counts):
        customers.stage_locks(_list_names(names), organization_id=organization_id, program_id=program_id)
        params = _params(chosen, names, organization_id=organization_id, program_id=program_id, switch_id=switch_id)
        db.stage(_UNCOUNT, params)


def _by_program(
    counts: Sequence[BroughtCount],
) -> Iterator[tuple[UUID, Sequence[BroughtCount], Sequence[CustomerNames]]]:
    """Return the counts above 0 of each program, in the order of the programs' ids, with the names of each."""
    for program_id in sorted({count.program_id for count in counts if count.payments > 0}):
        chosen = [count for count in counts if count.program_id == program_id and count.payments > 0]
        names = [
            customer_names.brought_names(
                customer_id=count.customer_id, email=count.email, subscription_id=count.subscription_id
            )
            for count in chosen
        ]
        yield program_id, chosen, names


def _list_names(names: Sequence[CustomerNames]) -> list[str | None]:
    return [name for each in names for name in (each.id_name, each.email_name, each.subscription_name)]


def _params(
    counts: Sequence[BroughtCount],
    names: Sequence[CustomerNames],
    *,
    organization_id: UUID,
    program_id: UUID,
    switch_id: UUID,
) -> dict[str, object]:
    return {
        "org": organization_id,
        "program": program_id,
        "switch": switch_id,
        "id_names": [each.id_name for each in names],
        "other_names": [each.other_name for each in names],
        "email_names": [each.email_name for each in names],
        "inboxes": [each.inbox for each in names],
        "subscription_names": [each.subscription_name for each in names],
        "times": [count.first_paid_at for count in counts],
        "numbers": [count.payments for count in counts],
    }
