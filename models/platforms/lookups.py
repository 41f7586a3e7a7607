"""Lookups: uncredited payments whose buyer is looked up on platforms."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import jobs
from models.db import Json, db
from models.prepared_statements import PreparedStatement
from models.table import Table


@dataclass(frozen=True, slots=True)
class PendingLookup:
    """A payment with a pending lookup. `paid` is the payment as reported."""

    id: UUID
    organization_id: UUID
    payment_id: UUID
    paid: Mapping[str, Any]
    started_at: datetime


_TABLE = Table("platform_lookup", PendingLookup)

_STAGE = PreparedStatement("""
insert into platform_lookup (id, organization_id, payment_id, paid, started_at)
values (%(id)s, %(org)s, %(payment)s, %(paid)s, %(at)s)
on conflict (organization_id, payment_id) do nothing
""")


def stage(pending: PendingLookup) -> None:
    """Stage a lookup of a payment, unless it has one; stage the payment itself first."""
    db.stage(
        _STAGE,
        {
            "id": pending.id,
            "org": pending.organization_id,
            "payment": pending.payment_id,
            "paid": Json(pending.paid),
            "at": pending.started_at,
        },
    )


_ONE = f"select {_TABLE.columns} from platform_lookup where organization_id = %s and id = %s"


def find(*, organization_id: UUID, lookup_id: UUID) -> PendingLookup | None:
    """Return a lookup that has not ended."""
    return _TABLE.first(_ONE, (organization_id, lookup_id))


_IS_OPEN = """
select from gateway_payment
where organization_id = %s and id = %s and conversion_id is null and reason = 'nobody_referred'
"""


def is_open(pending: PendingLookup) -> bool:
    """Return whether the payment of a lookup is still uncredited."""
    return bool(db.run(_IS_OPEN, (pending.organization_id, pending.payment_id)))


def stage_end(pending: PendingLookup) -> None:
    """Stage the end of a lookup."""
    db.stage(
        "delete from platform_lookup where organization_id = %s and id = %s", (pending.organization_id, pending.id)
    )


_ANY_ORG_FORGET = """
delete from platform_lookup l where not exists (
  select from job j
  where j.queue = %(queue)s and j.fair_key = l.organization_id::text and j.name = %(name)s
    and j.args ->> 'lookup_id' = l.id::text
)
"""


def any_org_stage_forget() -> None:
    """Stage the end of lookups whose job an operator discarded."""
    db.stage(_ANY_ORG_FORGET, {"queue": jobs.PLATFORM_LOOKUP.queue, "name": jobs.PLATFORM_LOOKUP.name})
