"""Installation checks: the last page checked for each program's tag, and what the tag has reported since."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.programs import numbers
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class InstallCheck:
    """The result of one check. `page_url` has no query; `finding` is one of TagFinding.

    `policy_lines` are directives that would allow the script, if `policy_allows` is false.
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
    """The state of a program's installation; `check` None: no page was checked."""

    script_seen_at: datetime | None
    script_origin: str | None
    last_click_at: datetime | None
    last_conversion_at: datetime | None
    last_conversion_source: str | None
    check: InstallCheck | None


_ROWS = Rows(InstallState)
_VALUES = {
    "last_click_at": numbers.LAST_CLICK_AT,
    "last_conversion_at": numbers.LAST_CONVERSION_AT,
    "last_conversion_source": numbers.LAST_CONVERSION_SOURCE,
    "check": columns(InstallCheck, "c"),
}
_STATE = f"""
select {columns(InstallState, "p", **_VALUES)}
from program p left join install_check c on c.organization_id = p.organization_id and c.program_id = p.id
where p.organization_id = %(org)s and p.id = %(program)s
"""


def find_state(*, organization_id: UUID, program_id: UUID) -> InstallState | None:
    """Return the state of a program's installation; None when the organization has no such program."""
    return _ROWS.first(_STATE, {"org": organization_id, "program": program_id})


_REPLACE = """
insert into install_check (organization_id, program_id, page_url, checked_at, finding, page_bytes, took_ms,
  policy_allows, policy_lines)
values (%(org)s, %(program)s, %(page_url)s, %(checked_at)s, %(finding)s, %(page_bytes)s, %(took_ms)s,
  %(policy_allows)s, %(policy_lines)s)
on conflict (organization_id, program_id) do update set
  page_url = excluded.page_url, checked_at = excluded.checked_at, finding = excluded.finding,
  page_bytes = excluded.page_bytes, took_ms = excluded.took_ms, policy_allows = excluded.policy_allows,
  policy_lines = excluded.policy_lines
"""


def stage_replace(check: InstallCheck, *, organization_id: UUID, program_id: UUID) -> None:
    """Stage a check that replaces the program's last one."""
    db.stage(
        _REPLACE,
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
