"""Records of the proofs of host names, and which names are due for a check."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from domain.host_proofs.validity import ProofRecord
from models.db import db
from models.host_proofs.holders import ORGANIZATION_COLUMNS, PROGRAM_COLUMNS, HostHolder
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class HostWithProof:
    """A holder with the record of its current name's proof; None before the first check."""

    holder: HostHolder
    record: ProofRecord | None


_HOSTS = Rows(HostWithProof)
_RECORD_OF_HOST = columns(ProofRecord, "h")
_PROGRAM = f"""
select {columns(HostWithProof, holder=PROGRAM_COLUMNS, record=_RECORD_OF_HOST)}
from program p
left join host_proof h on h.organization_id = p.organization_id and h.holder_id = p.id and h.name = p.custom_domain
where p.organization_id = %s and p.id = %s
"""
_ORGANIZATION = f"""
select {columns(HostWithProof, holder=ORGANIZATION_COLUMNS, record=_RECORD_OF_HOST)}
from organization o
left join host_proof h on h.organization_id = o.id and h.holder_id = o.id and h.name = o.tracking_domain
where o.id = %s
"""


def find_with_proof(*, organization_id: UUID, program_id: UUID | None) -> HostWithProof | None:
    """Return a program's custom domain, or (without a program) an organization's tracking domain, with its proof.

    Budget: 1 statement.
    """
    if program_id is None:
        return _HOSTS.first(_ORGANIZATION, (organization_id,))
    return _HOSTS.first(_PROGRAM, (organization_id, program_id))


_RECORDS = Rows(ProofRecord)
_RECORD = columns(ProofRecord)
_FIND = f"select {_RECORD} from host_proof where organization_id = %s and holder_id = %s and name = %s"


def find(holder: HostHolder) -> ProofRecord | None:
    """Return the record of the proof of a holder's current name; None before the first check."""
    return _RECORDS.first(_FIND, (holder.organization_id, holder.holder_id, holder.name))


_NAMES = tuple(ProofRecord.__dataclass_fields__)
_STAGE_RECORD = f"""
insert into host_proof (organization_id, holder_id, name, {_RECORD})
values (%(org)s, %(holder)s, %(host)s, {", ".join(f"%({name})s" for name in _NAMES)})
on conflict (organization_id, holder_id) do update set
  name = excluded.name, {", ".join(f"{name} = excluded.{name}" for name in _NAMES)}
"""


def stage_record(holder: HostHolder, record: ProofRecord) -> None:
    """Stage the record of a holder's proof."""
    db.stage(
        _STAGE_RECORD,
        {"org": holder.organization_id, "holder": holder.holder_id, "host": holder.name, **asdict(record)},
    )


def stage_forget(*, organization_id: UUID, holder_id: UUID) -> None:
    """Stage the deletion of a holder's record: its name changed, or the operator vouches for it."""
    db.stage("delete from host_proof where organization_id = %s and holder_id = %s", (organization_id, holder_id))


class DueHost(NamedTuple):
    """A name that is due for a check."""

    organization_id: UUID
    holder_id: UUID
    name: str


# A name that is verified without a record was vouched for by the operator, and is not checked.
_IS_DUE = """
case when {verified} then h.name = {name} and h.proved_by is not null and h.due_at <= %(now)s
  else h.name is distinct from {name} or h.due_at <= %(now)s end
"""
_LEASE_DUE = f"""
with due as materialized (
  select p.organization_id, p.id as holder_id, p.custom_domain as name
  from program p left join host_proof h on h.organization_id = p.organization_id and h.holder_id = p.id
  where p.custom_domain is not null and p.archived_at is null
    and {_IS_DUE.format(verified="p.custom_domain_verified", name="p.custom_domain")}
  union all
  select o.id, o.id, o.tracking_domain
  from organization o left join host_proof h on h.organization_id = o.id and h.holder_id = o.id
  where o.tracking_domain is not null
    and {_IS_DUE.format(verified="o.tracking_domain_verified", name="o.tracking_domain")}
  limit %(limit)s
)
insert into host_proof (organization_id, holder_id, name, waiting_since, due_at)
select organization_id, holder_id, name, %(now)s, %(again)s from due
on conflict (organization_id, holder_id) do update set due_at = excluded.due_at, name = excluded.name,
  waiting_since = case when host_proof.name = excluded.name then host_proof.waiting_since else %(now)s end,
  proved_by = case when host_proof.name = excluded.name then host_proof.proved_by end
returning organization_id, holder_id, name
"""


def any_org_lease_due(*, now: datetime, again: datetime, limit: int) -> list[DueHost]:
    """Return up to `limit` due names; each is next due at `again`, unless a check sets another time before."""
    return Rows(DueHost).all(_LEASE_DUE, {"now": now, "again": again, "limit": limit})
