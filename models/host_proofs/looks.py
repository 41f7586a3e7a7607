"""What was seen of the proofs of host names, and whose turn it is to be looked at."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from domain.host_proofs.validity import ProofRecord
from models.db import db
from models.host_proofs.holders import OF_ORGANIZATION, OF_PROGRAM, HostHolder
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class SeenHost:
    """A holder, and what was seen of the proof of the name that it has now; None before the first look."""

    holder: HostHolder
    record: ProofRecord | None


_SEEN = Rows(SeenHost)
_SEEN_RECORD = columns(ProofRecord, "h")
_PROGRAM = f"""
select {columns(SeenHost, holder=OF_PROGRAM, record=_SEEN_RECORD)}
from program p
left join host_proof h on h.organization_id = p.organization_id and h.holder_id = p.id and h.name = p.custom_domain
where p.organization_id = %s and p.id = %s
"""
_ORGANIZATION = f"""
select {columns(SeenHost, holder=OF_ORGANIZATION, record=_SEEN_RECORD)}
from organization o
left join host_proof h on h.organization_id = o.id and h.holder_id = o.id and h.name = o.tracking_domain
where o.id = %s
"""


def show(*, organization_id: UUID, program_id: UUID | None) -> SeenHost | None:
    """Return a program's custom domain, or (without one) an organization's tracking domain, and what was seen of it.

    Budget: 1 statement.
    """
    if program_id is None:
        return _SEEN.first(_ORGANIZATION, (organization_id,))
    return _SEEN.first(_PROGRAM, (organization_id, program_id))


_RECORDS = Rows(ProofRecord)
_RECORD = columns(ProofRecord)
_FIND = f"select {_RECORD} from host_proof where organization_id = %s and holder_id = %s and name = %s"


def find(of: HostHolder) -> ProofRecord | None:
    """Return what was seen of the proof of the name that a holder has now; None before the first look."""
    return _RECORDS.first(_FIND, (of.organization_id, of.holder_id, of.name))


_NAMES = tuple(ProofRecord.__dataclass_fields__)
_PUT = f"""
insert into host_proof (organization_id, holder_id, name, {_RECORD})
values (%(org)s, %(holder)s, %(host)s, {", ".join(f"%({name})s" for name in _NAMES)})
on conflict (organization_id, holder_id) do update set
  name = excluded.name, {", ".join(f"{name} = excluded.{name}" for name in _NAMES)}
"""


def stage_put(of: HostHolder, record: ProofRecord) -> None:
    """Stage what was seen of a holder's name."""
    db.stage(_PUT, {"org": of.organization_id, "holder": of.holder_id, "host": of.name, **asdict(record)})


def stage_forget(*, organization_id: UUID, holder_id: UUID) -> None:
    """Stage that nothing is known of a holder's name: it has another one now, or somebody vouches for it."""
    db.stage("delete from host_proof where organization_id = %s and holder_id = %s", (organization_id, holder_id))


class DueHost(NamedTuple):
    """A name whose turn it is."""

    organization_id: UUID
    holder_id: UUID
    name: str


# What is verified without a record of its proof is somebody's word, and is left alone.
_IS_DUE = """
case when {verified} then h.name = {name} and h.proved_by is not null and h.due_at <= %(now)s
  else h.name is distinct from {name} or h.due_at <= %(now)s end
"""
_TAKE_DUE = f"""
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


def any_org_take_due(*, now: datetime, again: datetime, limit: int) -> list[DueHost]:
    """Return up to `limit` names whose turn it is; each is due `again` unless a look says otherwise before."""
    return Rows(DueHost).all(_TAKE_DUE, {"now": now, "again": again, "limit": limit})
