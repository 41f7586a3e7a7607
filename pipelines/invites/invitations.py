"""Invites: create one or many, resend, revoke.

Whatever adds pending invites to an organization holds its lock until the end, so the limit holds and two invites never
promise one slug. `pipelines.invites.acceptance` is the invited person's side.
Source: core spec, "Affiliate invites" and section 3 (Invite).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import slugs
from domain.invites import InviteRequest, InviteState, RefusedSlug, assign_slugs, state_at
from domain.programs import terms
from domain.refusals import Refused, not_found
from models import advisory_locks, invites
from models.affiliates import affiliates, bulk_actions
from models.invites import InviteWithProgram
from models.programs import programs
from pipelines.affiliates import enrollment
from pipelines.invites import dispatch
from pipelines.invites.dispatch import Inviter, SentInvite
from pipelines.programs import home_rate


@dataclass(frozen=True, slots=True)
class InviteBatch:
    """The invites that were sent, and the pending invites of the same people that they replace."""

    invites: list[SentInvite]
    replaced: list[InviteWithProgram]
    skipped: int = 0
    conflicts: list[RefusedSlug] = field(default_factory=list)


def create(*, organization_id: UUID, body: Mapping[str, Any], inviter: Inviter, now: datetime) -> InviteBatch:
    """Invite one person. `body` is `schemas.invite.InviteBody` loaded.

    Raises Refused: 400 validation_failed for the program, slug_reserved and what `terms.check_rate` raises; 409
     program_inactive, affiliate_already_exists, slug_already_taken, pending_invites_limit_reached.
    """
    if body["custom_commission_type"] is not None:
        affiliates.stage_program_share_lock(organization_id=organization_id, program_id=body["program_id"])
    program = _find_program(organization_id, body["program_id"])
    invitation = {**body, "custom_commission_currency": enrollment.check_rate(program, body)}
    email, slug = body["email"], body["slug"]
    if slug and slugs.is_reserved(slug):
        raise slugs.refuse_reserved(slug, field="slug")
    pending = _lock_pending(program, [email])
    if bulk_actions.find_existing_emails(organization_id=organization_id, program_id=program.id, emails=[email]):
        raise Refused(409, "affiliate_already_exists", "The program has an affiliate with this email.", field="email")
    replaced = _close_invites(pending, now)
    if slug and invites.find_taken_slugs(organization_id=organization_id, requested=[(slug, email)], now=now):
        raise Refused(409, "slug_already_taken", "This slug is taken.", field="slug")
    sent_invites = dispatch.create_and_send(program=program, bodies=[invitation], inviter=inviter, now=now)
    return InviteBatch(invites=sent_invites, replaced=replaced)


def create_many(*, organization_id: UUID, body: Mapping[str, Any], inviter: Inviter, now: datetime) -> InviteBatch:
    """Invite many. `body` is `schemas.invite.BulkInviteBody` loaded.

    Repeated emails and affiliates of the program are skipped; a slug that is not available is a conflict.
    Raises Refused: 400 validation_failed for the program; 409 program_inactive, pending_invites_limit_reached for the
    whole batch.
    """
    program = _find_program(organization_id, body["program_id"])
    first_of = {recipient["email"]: recipient for recipient in reversed(body["recipients"])}
    pending = _lock_pending(program, first_of)
    members = bulk_actions.find_existing_emails(
        organization_id=organization_id, program_id=program.id, emails=list(first_of)
    )
    people = [
        recipient
        for recipient in body["recipients"]
        if recipient["email"] not in members and first_of[recipient["email"]] is recipient
    ]
    replaced = _close_invites([invite for invite in pending if invite.email not in members], now)
    granted, conflicts = _grant_slugs(organization_id, people, now)
    shared = {name: body[name] for name in ("program_id", "personal_note_html", "auto_approve")}
    rows = [{**shared, **person, "slug": granted[person["email"]]} for person in people]
    return InviteBatch(
        invites=dispatch.create_and_send(program=program, bodies=rows, inviter=inviter, now=now),
        replaced=replaced,
        skipped=len(body["recipients"]) - len(people),
        conflicts=conflicts,
    )


def resend(*, organization_id: UUID, invite_id: UUID, now: datetime) -> InviteBatch:
    """Send an invite again with a new link, valid as long as the first one was; the old link becomes invalid.

    Raises Refused: 404 not_found; 409 invite_not_pending, program_inactive, pending_invites_limit_reached; for an
    expired one whose rate the program no longer allows what `terms.check_rate` raises.
    """
    advisory_locks.stage_invites_lock(organization_id)
    invite = _lock_unanswered(organization_id, invite_id, now)
    if invite.custom_commission_type is not None:
        affiliates.stage_program_share_lock(organization_id=organization_id, program_id=invite.program_id)
    program = _find_program(organization_id, invite.program_id)
    if _state(invite, now) == InviteState.Expired:
        _check_stored_rate(program, invite)
    pending = invites.lock_pending(organization_id=organization_id, program_id=program.id, emails=[invite.email])
    replaced = _close_invites([other for other in pending if other.id != invite.id], now)
    if _state(invite, now) == InviteState.Expired:
        dispatch.check_limit(organization_id=organization_id, adding=1, now=now)
    return InviteBatch(invites=dispatch.renew_and_send(program=program, invite=invite, now=now), replaced=replaced)


def revoke(*, organization_id: UUID, invite_id: UUID, now: datetime) -> InviteWithProgram:
    """Revoke an invite; its link becomes invalid. Return the invite before the change, locked.

    Raises Refused: 404 not_found; 409 invite_not_pending.
    """
    invite = _lock_unanswered(organization_id, invite_id, now)
    invites.stage_revoke(invite)
    return invite


def any_org_expire(*, now: datetime) -> None:
    """Mark expired invites. Idempotent; readers compute the state by time and do not wait for this."""
    invites.any_org_stage_expiry(now=now)


def _find_program(organization_id: UUID, program_id: UUID) -> programs.Program:
    if programs.find(organization_id=organization_id, program_id=program_id) is None:
        message = "There is no program with this id in the organization."
        raise Refused(400, "validation_failed", message, field="programId")
    return find_open_program(organization_id, program_id)


def find_open_program(organization_id: UUID, program_id: UUID) -> programs.Program:
    """Return a program that accepts affiliates. Raises Refused 409 program_inactive."""
    program = programs.find_open(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise Refused(409, "program_inactive", "The program is not active, so no one can join it now.")
    return program


def _check_stored_rate(program: programs.Program, invite: InviteWithProgram) -> None:
    type, value = invite.custom_commission_type, invite.custom_commission_value
    if type is None or value is None:
        return
    currency = invite.custom_commission_currency
    terms.check_rate(
        model=program.default_commission_model,
        type=type,
        value=value,
        home=home_rate.find_for_currency(currency) if currency else home_rate.find(program.organization_id),
        prefix="custom",
    )


def _lock_pending(program: programs.Program, emails: Sequence[str] | Mapping[str, object]) -> list[InviteWithProgram]:
    # Waits for an invite that is just being accepted, and then sees its affiliate.
    advisory_locks.stage_invites_lock(program.organization_id)
    return invites.lock_pending(organization_id=program.organization_id, program_id=program.id, emails=emails)


def _close_invites(pending: Sequence[InviteWithProgram], now: datetime) -> list[InviteWithProgram]:
    """Stage the end of locked invites that are replaced; return those that were still pending, as they were."""
    if pending:
        invites.stage_close(
            organization_id=pending[0].organization_id, invite_ids=[invite.id for invite in pending], now=now
        )
    return [invite for invite in pending if _state(invite, now) == InviteState.Pending]


def _grant_slugs(
    organization_id: UUID, people: Sequence[Mapping[str, Any]], now: datetime
) -> tuple[dict[str, str | None], list[RefusedSlug]]:
    wishes = [InviteRequest(email=person["email"], slug=person["slug"]) for person in people]
    pairs = [(wish.slug, wish.email) for wish in wishes if wish.slug and slugs.is_valid_strict(wish.slug)]
    of_others = invites.find_taken_slugs(organization_id=organization_id, requested=pairs, now=now)
    return assign_slugs(wishes, of_others=of_others)


def _lock_unanswered(organization_id: UUID, invite_id: UUID, now: datetime) -> InviteWithProgram:
    invite = invites.lock(organization_id=organization_id, invite_id=invite_id)
    if invite is None:
        raise not_found("invite", invite_id)
    state = _state(invite, now)
    if state not in (InviteState.Pending, InviteState.Expired):
        raise Refused(409, "invite_not_pending", f"The invite is {state}.")
    return invite


def _state(invite: InviteWithProgram, now: datetime) -> InviteState:
    return state_at(invite.state, expires_at=invite.expires_at, now=now)
