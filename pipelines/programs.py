"""Programs (campaigns): creating one, and its sub-affiliate setting.

Source: core spec, "Campaigns (programs)"; tracking spec, "Sub-affiliate recruiting".
"""

import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import program_terms, slugs
from domain.refused import Refused
from models import ids, programs
from pipelines import home

# Two campaigns of one name are rare, so the first random ending is free; more would mean that something is wrong.
_ENDINGS = 5


def create(*, organization_id: UUID, wanted: Mapping[str, Any], now: datetime) -> programs.Program:
    """Create a program. `wanted` is `schemas.program.ProgramBody` loaded.

    Raises Refused: what `program_terms.settle` raises; 409 slug_already_taken for a slug that was asked for.
    """
    terms = program_terms.settle(wanted, home=home.of(organization_id))
    values = {
        "id": ids.new_id(),
        "organization_id": organization_id,
        **terms,
        "created_at": now,
        "updated_at": now,
    }
    for slug in _candidates(wanted):
        if programs.insert(values | {"slug": slug}):
            return programs.Program(**values | {"slug": slug})
    raise Refused(409, "slug_already_taken", "Another program of this organization has this slug.", field="slug")


def set_sub_affiliate_config(*, program: programs.Program, changes: Mapping[str, Any], now: datetime) -> None:
    """Set a locked program's sub-affiliate columns, in the row and on the object."""
    programs.update(
        organization_id=program.organization_id, program_id=program.id, changes={**changes, "updated_at": now}
    )
    for column, value in changes.items():
        setattr(program, column, value)


def _candidates(wanted: Mapping[str, Any]) -> Iterator[str]:
    if "slug" in wanted:
        yield wanted["slug"]
        return
    slug = slugs.from_name(wanted["name"])
    yield slug
    for _ in range(_ENDINGS):
        yield f"{slug}-{secrets.token_hex(3)}"
