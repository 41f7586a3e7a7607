"""Changes a program: merges the sent fields with the stored ones; the result has to obey the rules of a new program.

Source: core spec, "Campaigns (programs)" and "Program fields accepted on create or update".
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import listing
from domain.programs import ceilings, changes
from models import advisory_locks
from models.host_proofs import proof_records
from models.programs import former_slugs, programs
from pipelines.programs import home_rate, landing_pictures, lifecycle, network_listing


def lock(*, organization_id: UUID, program_id: UUID, fields: Mapping[str, Any]) -> programs.Program:
    """Return the program that `fields` change, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived one.
    """
    landing_pictures.stage_lock(organization_id, fields)
    if fields.get("is_primary"):
        advisory_locks.stage_primary_program_lock(organization_id)
    return lifecycle.lock_unarchived(organization_id=organization_id, program_id=program_id)


def change(*, program: programs.Program, fields: Mapping[str, Any], now: datetime) -> programs.Program:
    """Change a locked program and return the updated row; the same row where nothing changes.

    `fields` is `schemas.programs.program.ProgramChanges` loaded.
    Raises Refused: as `domain.programs.changes.merge`; 400 hero_image_not_found; 409 slug_already_taken.
    """
    home = home_rate.find(program.organization_id)
    may_list = network_listing.may_list(program.organization_id, fields)
    before = asdict(program)
    columns = changes.merge(before, fields, home=home, may_list=may_list)
    if not columns:
        return program
    landing_pictures.check(program.organization_id, columns)
    columns |= listing.request_review(before, columns, now)
    if "default_commission_model" in columns:
        _check_partner_rates(program, columns["default_commission_model"], home)
    if columns.get("is_primary"):
        # Before the slug: a transaction that waits for the slug released here holds a program lock meanwhile.
        programs.stage_no_primary(organization_id=program.organization_id)
    if "custom_domain" in columns:
        proof_records.stage_forget(organization_id=program.organization_id, holder_id=program.id)
    if "slug" in columns:
        _rename(program, columns["slug"], now)
    return programs.change(program, {**columns, "updated_at": now})


def _check_partner_rates(program: programs.Program, model: str, home: ceilings.Home) -> None:
    rates = programs.list_partner_rates(organization_id=program.organization_id, program_id=program.id)
    by_currency = {
        rate.currency: home_rate.find_for_currency(rate.currency) for rate in rates if rate.currency is not None
    }
    changes.check_stored_rates(
        model, [(rate.type, rate.value, by_currency[rate.currency] if rate.currency else home) for rate in rates]
    )


def _rename(program: programs.Program, slug: str, now: datetime) -> None:
    organization_id = program.organization_id
    if not programs.rename(organization_id=organization_id, program_id=program.id, slug=slug):
        raise lifecycle.slug_taken_refusal()
    former_slugs.stage_forget(organization_id=organization_id, slug=slug)
    former_slugs.stage_remember(organization_id=organization_id, program_id=program.id, slug=program.slug, at=now)
