"""Switches of all organizations, for the operator. Read-only."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class AdminSwitch:
    """A switch in a list. `rows` is how many rows its staging tables were given, `undo_until` when they are erased."""

    id: UUID
    organization_id: UUID
    organization: str
    source: str
    account_name: str
    state: str
    stage: str | None
    paused_in: str | None
    rows: int
    requests: int
    waiting_until: datetime | None
    last_error_code: str | None
    credentials_held: bool
    created_at: datetime
    touched_at: datetime
    undo_until: datetime | None


_ROWS = Rows(AdminSwitch)
_COLUMNS = columns(
    AdminSwitch,
    "switch",
    organization="organization.name",
    credentials_held="switch.credentials_sealed is not null",
    rows="""coalesce((select sum(read) from switch_collection
  where switch_collection.organization_id = switch.organization_id
    and switch_collection.switch_id = switch.id), 0)::int""",
)
_LIST = f"""
select {_COLUMNS} from switch join organization on organization.id = switch.organization_id
where %(organization_id)s::uuid is null or switch.organization_id = %(organization_id)s
order by switch.created_at desc, switch.id desc
limit %(limit)s
"""


def any_org_list(*, organization_id: UUID | None, limit: int) -> list[AdminSwitch]:
    """Return up to `limit` switches, newest first, of one organization or of all."""
    return _ROWS.all(_LIST, {"organization_id": organization_id, "limit": limit})


def any_org_find_organization(switch_id: UUID) -> UUID | None:
    """Return the organization of a switch, for an operator who knows only its id."""
    row = db.row("select organization_id from switch where id = %s", (switch_id,))
    return row[0] if row else None
