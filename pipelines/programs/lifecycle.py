"""Programs (campaigns): creating, archiving and finding one, and its sub-affiliate setting.

Source: core spec, "Campaigns (programs)"; tracking spec, "Sub-affiliate recruiting".
"""

import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import listing, slugs
from domain.programs import terms
from domain.refusals import Refused, not_found
from models import advisory_locks, ids
from models.programs import former_slugs, programs
from pipelines.programs import home_rate, landing, networking

# Two campaigns of one name are rare, so the first random ending is free; more would mean that something is wrong.
_ENDINGS = 5


def create(*, organization_id: UUID, wanted: Mapping[str, Any], now: datetime) -> programs.Program:
    """Create a program. `wanted` is `schemas.programs.program.ProgramBody` loaded.

    Raises Refused: what `terms.settle` raises; 400 hero_image_not_found; 409 slug_already_taken for a slug that was
    asked for.
    """
    landing.stage_turn(organization_id, wanted)
    landing.check(organization_id, wanted)
    may_list = networking.may_list(organization_id, wanted)
    settled = terms.complete(wanted, home=home_rate.of(organization_id), may_list=may_list)
    values = {
        "id": ids.new_id(),
        "organization_id": organization_id,
        **settled,
        **listing.request_review({}, settled, now),
        "created_at": now,
        "updated_at": now,
    }
    if values.get("is_primary"):
        advisory_locks.stage_primary_program_lock(organization_id)
        programs.stage_no_primary(organization_id=organization_id)
    for slug in _candidates(wanted):
        created = programs.insert(values | {"slug": slug})
        if created is not None:
            former_slugs.stage_forget(organization_id=organization_id, slug=slug)
            return created
    raise slug_taken()


def slug_taken() -> Refused:
    """Return the refusal for a slug that another program of the organization has."""
    return Refused(409, "slug_already_taken", "Another program of this organization has this slug.", field="slug")


def find(*, organization_id: UUID, program_id: UUID) -> programs.Program:
    """Return a program of the organization, archived or not. Raises Refused 404 not_found."""
    program = programs.find(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise not_found("program", program_id)
    return program


def lock(*, organization_id: UUID, program_id: UUID) -> programs.Program:
    """Return a program of the organization, locked until the transaction ends. Raises Refused 404 not_found."""
    program = programs.lock(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise not_found("program", program_id)
    return program


def lock_living(*, organization_id: UUID, program_id: UUID) -> programs.Program:
    """Return a program that can be changed, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived one.
    """
    program = lock(organization_id=organization_id, program_id=program_id)
    if program.archived_at:
        raise Refused(409, "invalid_status_transition", "This program is archived: it can be read and not changed.")
    return program


def archive(*, program: programs.Program, now: datetime) -> programs.Program:
    """Archive a locked program and return it as it is now; itself when it is archived already.

    It earns nothing from now on, stops being the primary one, and lets go of its domain.
    """
    if program.archived_at:
        return program
    return programs.change(program, {"archived_at": now, "is_primary": False, "updated_at": now})


def set_sub_affiliate_config(
    *, program: programs.Program, changes: Mapping[str, Any], now: datetime
) -> programs.Program:
    """Set a locked program's sub-affiliate columns and return it as it is now."""
    return programs.change(program, {**changes, "updated_at": now})


def _candidates(wanted: Mapping[str, Any]) -> Iterator[str]:
    if "slug" in wanted:
        yield wanted["slug"]
        return
    slug = slugs.from_name(wanted["name"])
    yield slug
    for _ in range(_ENDINGS):
        yield f"{slug}-{secrets.token_hex(3)}"
