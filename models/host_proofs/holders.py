"""Holders of host names: whether a name is verified, and whether another holder has it."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class HostHolder:
    """The holder of a host name: a program with its custom domain, or (`program_id` None) an organization's tracking
    domain. `is_over`: the program is archived.
    """

    organization_id: UUID
    program_id: UUID | None
    name: str | None
    is_verified: bool = False
    is_over: bool = False

    @property
    def holder_id(self) -> UUID:
        """The id under which its proof is stored."""
        return self.program_id or self.organization_id


_HOLDERS = Rows(HostHolder)
#: The columns of a holder, of a program `p` and of an organization `o`.
PROGRAM_COLUMNS = columns(
    HostHolder,
    "p",
    program_id="p.id",
    name="p.custom_domain",
    is_verified="p.custom_domain_verified",
    is_over="p.archived_at is not null",
)
ORGANIZATION_COLUMNS = columns(
    HostHolder,
    organization_id="o.id",
    program_id="null::uuid",
    name="o.tracking_domain",
    is_verified="o.tracking_domain_verified",
    is_over="false",
)
_PROGRAM = f"select {PROGRAM_COLUMNS} from program p where p.organization_id = %s and p.id = %s for no key update"
_ORGANIZATION = f"select {ORGANIZATION_COLUMNS} from organization o where o.id = %s for no key update"


def lock(*, organization_id: UUID, program_id: UUID | None) -> HostHolder | None:
    """Return a holder, locked until the transaction ends."""
    if program_id is None:
        return _HOLDERS.first(_ORGANIZATION, (organization_id,))
    return _HOLDERS.first(_PROGRAM, (organization_id, program_id))


def stage_verified(holder: HostHolder, *, is_verified: bool, at: datetime) -> None:
    """Stage whether the name of a locked holder is verified."""
    if holder.program_id is None:
        sql = "update organization set tracking_domain_verified = %s where id = %s"
        db.stage(sql, (is_verified, holder.organization_id))
    else:
        sql = "update program set custom_domain_verified = %s, updated_at = %s where organization_id = %s and id = %s"
        db.stage(sql, (is_verified, at, holder.organization_id, holder.program_id))


def stage_free_name(holder: HostHolder) -> None:
    """Stage the early end of another organization's hold on a holder's name; a name in use there stays held."""
    db.stage("select free_host(%s, %s)", (holder.name, holder.organization_id))


def is_held_elsewhere(holder: HostHolder) -> bool:
    """Return whether a holder's name belongs to another holder, or to an organization that used it until recently.

    Call it after `advisory_locks.stage_domain_lock`.
    """
    row = db.row(
        "select is_host_proved_elsewhere(%s, %s, %s)", (holder.name, holder.organization_id, holder.program_id)
    )
    return row == (True,)


class HostHold(NamedTuple):
    """Which organization a host name is held for, and whether that organization still uses it."""

    organization_id: UUID
    is_in_use: bool


_ANY_ORG_HOLD = "select organization_id, held_until = 'infinity' from host_hold where name = %s and held_until > now()"


def any_org_find_hold(name: str) -> HostHold | None:
    """Return the hold on a host name, or None."""
    row = db.row(_ANY_ORG_HOLD, (name,))
    return HostHold(*row) if row else None


def any_org_stage_free(name: str) -> None:
    """Stage the early end of the hold on a host name that its organization no longer uses."""
    db.stage("delete from host_hold where name = %s and held_until <> 'infinity'", (name,))


_ANY_ORG_IS_SERVED = """
select from program where custom_domain = %(host)s and custom_domain_verified and archived_at is null
union all
select from organization where tracking_domain = %(host)s and tracking_domain_verified
union all
select from organization where portal_host = %(host)s or subdomain = %(handle)s
limit 1
"""


def any_org_is_served(*, host: str, handle: str | None) -> bool:
    """Return whether a host belongs to a brand: a verified domain, its portal's host, or (`handle`) its subdomain."""
    return bool(db.run(_ANY_ORG_IS_SERVED, {"host": host, "handle": handle}))
