"""Pages that were checked for a program's tag, the last one of each program, and what its tag has brought since."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.programs import numbers
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class InstallCheck:
    """What a page carried. `page_url` is without its query; `finding` is one of TagFinding.

    `policy_lines` are directives that would let the script in, where `policy_allows` is not so.
    """

    page_url: str
    checked_at: datetime
    finding: str
    page_bytes: int
    took_ms: int
    policy_allows: bool
    policy_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InstallState:
    """What is known of a program's installation; `check` None: no page was checked."""

    script_seen_at: datetime | None
    script_origin: str | None
    last_click_at: datetime | None
    last_conversion_at: datetime | None
    check: InstallCheck | None


_ROWS = Rows(InstallState)
_LAST_CLICK, _LAST_CONVERSION, _CHECK = numbers.LAST_CLICK, numbers.LAST_CONVERSION, columns(InstallCheck, "c")
_STATE = f"""
select {columns(InstallState, "p", last_click_at=_LAST_CLICK, last_conversion_at=_LAST_CONVERSION, check=_CHECK)}
from program p left join install_check c on c.organization_id = p.organization_id and c.program_id = p.id
where p.organization_id = %(org)s and p.id = %(program)s
"""


def state(*, organization_id: UUID, program_id: UUID) -> InstallState | None:
    """Return what is known of a program's installation; None when the organization has no such program."""
    return _ROWS.first(_STATE, {"org": organization_id, "program": program_id})


_KEEP = """
insert into install_check (organization_id, program_id, page_url, checked_at, finding, page_bytes, took_ms,
  policy_allows, policy_lines)
values (%(org)s, %(program)s, %(page_url)s, %(checked_at)s, %(finding)s, %(page_bytes)s, %(took_ms)s,
  %(policy_allows)s, %(policy_lines)s)
on conflict (organization_id, program_id) do update set
  page_url = excluded.page_url, checked_at = excluded.checked_at, finding = excluded.finding,
  page_bytes = excluded.page_bytes, took_ms = excluded.took_ms, policy_allows = excluded.policy_allows,
  policy_lines = excluded.policy_lines
"""


def stage_keep(check: InstallCheck, *, organization_id: UUID, program_id: UUID) -> None:
    """Stage a check in the place of the program's last one."""
    db.stage(
        _KEEP,
        {
            "org": organization_id,
            "program": program_id,
            "page_url": check.page_url,
            "checked_at": check.checked_at,
            "finding": check.finding,
            "page_bytes": check.page_bytes,
            "took_ms": check.took_ms,
            "policy_allows": check.policy_allows,
            "policy_lines": list(check.policy_lines),
        },
    )
