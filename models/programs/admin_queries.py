"""Programs of all organizations, for the operator. Read-only."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class AdminProgram:
    """A program in a list, with how many affiliates may earn in it. `status` is of `domain.statuses.ProgramStatus`."""

    id: UUID
    organization_id: UUID
    organization: str
    name: str
    slug: str
    status: str
    affiliates: int
    suspended_at: datetime | None
    archived_at: datetime | None
    created_at: datetime


_STATUS = """case when p.archived_at is not null then 'Archived' when p.suspended_at is not null then 'Suspended'
  when p.is_active then 'Active' else 'Inactive' end"""
_AFFILIATES = """(select count(*) from affiliate a where a.organization_id = p.organization_id
  and a.program_id = p.id and a.deleted_at is null and not a.is_test and a.status = 'Approved')"""
_SELECT = f"""
select {columns(AdminProgram, "p", organization="o.name", status=_STATUS, affiliates=_AFFILIATES)}
from program p join organization o on o.id = p.organization_id
"""
_FIND = f"{_SELECT} where p.id = %s"
_PAGE = f"""
{_SELECT}
where (%(org)s::uuid is null or p.organization_id = %(org)s)
  and (%(q)s::text is null or position(lower(%(q)s) in lower(p.name)) > 0 or p.slug = lower(%(q)s)
    or p.id::text = lower(%(q)s))
  and (%(status)s::text is null or {_STATUS} = %(status)s)
  and (%(at)s::timestamptz is null or (p.created_at, p.id) < (%(at)s, %(id)s::uuid))
order by p.created_at desc, p.id desc limit %(limit)s
"""
_ROWS = Rows(AdminProgram)


def any_org_page(
    *,
    q: str | None,
    organization_id: UUID | None,
    status: str | None,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[AdminProgram]:
    """Return programs, newest first, after a position; None does not filter.

    `q` is a part of a name, or a slug or id.
    """
    at, id = after or (None, None)
    params = {"q": q, "org": organization_id, "status": status, "at": at, "id": id, "limit": limit}
    return _ROWS.all(_PAGE, params)


def any_org_find(program_id: UUID) -> AdminProgram | None:
    """Return one program, or None."""
    return _ROWS.first(_FIND, (program_id,))
