"""Changing a program: what is sent is merged with what it is, and the whole obeys the rules of a new one.

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
from pipelines.programs import home_rate, landing, lifecycle, networking


def lock(*, organization_id: UUID, program_id: UUID, sent: Mapping[str, Any]) -> programs.Program:
    """Return the program that `sent` changes, locked until the transaction ends.

    Raises Refused: 404 not_found; 409 invalid_status_transition for an archived one.
    """
    landing.stage_turn(organization_id, sent)
    if sent.get("is_primary"):
        advisory_locks.stage_primary_program_lock(organization_id)
    return lifecycle.lock_living(organization_id=organization_id, program_id=program_id)


def change(*, program: programs.Program, sent: Mapping[str, Any], now: datetime) -> programs.Program:
    """Change a locked program and return it as it is now; itself when it is so already.

    `sent` is `schemas.programs.program.ProgramChanges` loaded.
    Raises Refused: what `domain.programs.changes.merge` raises; 400 hero_image_not_found; 409 slug_already_taken.
    """
    standard = home_rate.of(program.organization_id)
    may_list = networking.may_list(program.organization_id, sent)
    before = asdict(program)
    settled = changes.merge(before, sent, home=standard, may_list=may_list)
    if not settled:
        return program
    landing.check(program.organization_id, settled)
    settled |= listing.request_review(before, settled, now)
    if "default_commission_model" in settled:
        _check_kept_rates(program, settled["default_commission_model"], standard)
    if settled.get("is_primary"):
        # Before the slug: a change that wants the slug given up here waits for it while it holds a program.
        programs.stage_no_primary(organization_id=program.organization_id)
    if "custom_domain" in settled:
        proof_records.stage_forget(organization_id=program.organization_id, holder_id=program.id)
    if "slug" in settled:
        _rename(program, settled["slug"], now)
    return programs.change(program, {**settled, "updated_at": now})


def _check_kept_rates(program: programs.Program, model: str, standard: ceilings.Home) -> None:
    rates = programs.list_partner_rates(organization_id=program.organization_id, program_id=program.id)
    standards = {rate.currency: home_rate.in_currency(rate.currency) for rate in rates if rate.currency is not None}
    changes.check_stored_rates(
        model, [(rate.type, rate.value, standards[rate.currency] if rate.currency else standard) for rate in rates]
    )


def _rename(program: programs.Program, slug: str, now: datetime) -> None:
    organization_id = program.organization_id
    if not programs.rename(organization_id=organization_id, program_id=program.id, slug=slug):
        raise lifecycle.slug_taken()
    former_slugs.stage_forget(organization_id=organization_id, slug=slug)
    former_slugs.stage_remember(organization_id=organization_id, program_id=program.id, slug=program.slug, at=now)
