"""Former slugs of programs: they still lead to the program until another program takes them."""

from datetime import datetime
from uuid import UUID

from models.db import db

_FORGET = "delete from program_former_slug where organization_id = %s and slug = %s"
_REMEMBER = """
insert into program_former_slug (organization_id, slug, program_id, retired_at) values (%s, %s, %s, %s)
on conflict (organization_id, slug) do update set program_id = excluded.program_id, retired_at = excluded.retired_at
"""


def stage_forget(*, organization_id: UUID, slug: str) -> None:
    """Stage the deletion of a former slug: an existing program has it now."""
    db.stage(_FORGET, (organization_id, slug))


def stage_remember(*, organization_id: UUID, program_id: UUID, slug: str, at: datetime) -> None:
    """Stage that a program had this slug."""
    db.stage(_REMEMBER, (organization_id, slug, program_id, at))
