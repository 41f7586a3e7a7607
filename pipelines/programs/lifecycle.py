"""Creates, archives and finds programs (campaigns), and sets their sub-affiliate configuration.

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
from pipelines.programs import home_rate, landing_pictures, network_listing

# Two campaigns of one name are rare, so the first random suffix is free; more tries would mean that something is wrong.
_SUFFIX_TRIES = 5


def create(*, organization_id: UUID, body: Mapping[str, Any], now: datetime) -> programs.Program:
    """Create a program. `body` is `schemas.programs.program.ProgramBody` loaded.

    Raises Refused: as `terms.settle`; 400 hero_image_not_found; 409 slug_already_taken for a requested slug.
    """
    landing_pictures.stage_lock(organization_id, body)
    landing_pictures.check(organization_id, body)
    may_list = network_listing.may_list(organization_id, body)
    columns = terms.complete(body, home=home_rate.find(organization_id), may_list=may_list)
    values = {
        "id": ids.new_id(),
        "organization_id": organization_id,
        **columns,
        **listing.request_review({}, columns, now),
        "created_at": now,
        "updated_at": now,
    }
    if values.get("is_primary"):
        advisory_locks.stage_primary_program_lock(organization_id)
        programs.stage_no_primary(organization_id=organization_id)
    for slug in _slug_candidates(body):
        program = programs.insert(values | {"slug": slug})
        if program is not None:
            former_slugs.stage_forget(organization_id=organization_id, slug=slug)
            return program
    raise slug_taken_refusal()


def slug_taken_refusal() -> Refused:
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


def lock_unarchived(*, organization_id: UUID, program_id: UUID) -> programs.Program:
    """Return a program that is not archived, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived one.
    """
    program = lock(organization_id=organization_id, program_id=program_id)
    if program.archived_at:
        raise Refused(409, "invalid_status_transition", "This program is archived and cannot be changed.")
    return program


def archive(*, program: programs.Program, now: datetime) -> programs.Program:
    """Archive a locked program and return the updated row; the same row when it is archived already.

    It creates no new earnings, is no longer the primary program, and its domain is free again.
    """
    if program.archived_at:
        return program
    return programs.change(program, {"archived_at": now, "is_primary": False, "updated_at": now})


def set_sub_affiliate_config(
    *, program: programs.Program, changes: Mapping[str, Any], now: datetime
) -> programs.Program:
    """Set a locked program's sub-affiliate columns and return the updated row."""
    return programs.change(program, {**changes, "updated_at": now})


def _slug_candidates(body: Mapping[str, Any]) -> Iterator[str]:
    if "slug" in body:
        yield body["slug"]
        return
    slug = slugs.from_name(body["name"])
    yield slug
    for _ in range(_SUFFIX_TRIES):
        yield f"{slug}-{secrets.token_hex(3)}"
