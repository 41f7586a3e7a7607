"""Jobs whose attempts are used up, for what must happen then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that is not tried again."""

    id: int
    name: str
    organization_id: UUID | None
    args: Mapping[str, str]


_FAILED = Rows(FailedJob)
_LIST = f"""
select {columns(FailedJob)} from job where id = any(%s) and name = any(%s) and failed_at is not null order by id
"""


def any_org_list(job_ids: Sequence[int], *, names: Sequence[str]) -> list[FailedJob]:
    """Return those of these jobs that failed for good and are of these kinds."""
    return _FAILED.all(_LIST, (list(job_ids), list(names)))
