"""What somebody with the link of an invite may do: look at it, and accept it once.

Source: core spec, "Affiliate invites", invite rules, and section 3 (Invite).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import slugs, statuses
from domain.invites import InviteState, state_at
from domain.refused import Refused
from models import advisory_locks, invites
from models.affiliates import affiliates, tracking_links
from models.affiliates.affiliates import Affiliate
from models.invites import InviteWithProgram
from models.organization import organizations
from models.programs import programs
from pipelines.affiliates import enrollment
from pipelines.invites import invitations
from pipelines.invites.invite_email import InviteContext

_SLUG_UNAVAILABLE = "slug_unavailable"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What accepting led to. `warning` is set when the invite promised a slug that could not be had.

    `link` is the link of that slug, None when the brand has taken it away since.
    """

    affiliate_id: UUID
    program_id: UUID
    status: str
    slug: str
    warning: str | None
    link: tracking_links.LinkView | None


@dataclass(frozen=True, slots=True)
class OpenedInvite:
    """An invite with what it is about; `standing` once it is accepted."""

    occasion: InviteContext
    state: InviteState
    standing: Acceptance | None


@dataclass(frozen=True, slots=True)
class AcceptedInvite:
    """An accepted invite with where that leads; `before` is the invite as it was, None when it was accepted already."""

    invite: InviteWithProgram
    standing: Acceptance
    before: InviteWithProgram | None


def any_org_organization(token_hash: bytes) -> UUID:
    """Return whose invite a token opens. Raises Refused 404 not_found, alike for every token that opens none."""
    organization_id = invites.any_org_find_organization(token_hash)
    if organization_id is None:
        raise unknown_invite_refusal()
    return organization_id


def preview(*, organization_id: UUID, token_hash: bytes, now: datetime) -> OpenedInvite:
    """Return what an invite is about.

    Raises Refused: 404 not_found; 410 invite_expired, invite_revoked.
    """
    invite = invites.find_by_token(organization_id=organization_id, token_hash=token_hash)
    if invite is None:
        raise unknown_invite_refusal()
    state = _check_valid(invite, now)
    organization = organizations.find(organization_id)
    program = programs.find(organization_id=organization_id, program_id=invite.program_id)
    assert organization is not None  # foreign keys hold both
    assert program is not None
    return OpenedInvite(
        occasion=InviteContext(organization=organization, program=program, invite=invite),
        state=state,
        standing=_find_outcome(invite) if state == InviteState.Accepted else None,
    )


def accept(*, organization_id: UUID, token_hash: bytes, now: datetime) -> AcceptedInvite:
    """Make the invited person an affiliate; a repetition gets the same answer.

    Somebody who joined in the meantime stays the affiliate that they are.
    Raises Refused: 404 not_found; 410 invite_expired, invite_revoked; 409 program_inactive.
    """
    invite = invites.lock_by_token(organization_id=organization_id, token_hash=token_hash)
    if invite is None:
        raise unknown_invite_refusal()
    if _check_valid(invite, now) == InviteState.Accepted:
        return AcceptedInvite(invite=invite, standing=_find_outcome(invite), before=None)
    program = invitations.find_open_program(organization_id, invite.program_id)
    affiliate_id, kept_slug = _enroll(invite, program, now)
    accepted = invites.accept(invite, affiliate_id=affiliate_id, kept_slug=kept_slug, now=now)
    return AcceptedInvite(invite=accepted, standing=_find_outcome(accepted), before=invite)


def unknown_invite_refusal() -> Refused:
    """Return the refusal for a token that opens nothing."""
    return Refused(404, "not_found", "There is no such invite.")


def _check_valid(invite: InviteWithProgram, now: datetime) -> InviteState:
    state = state_at(invite.state, expires_at=invite.expires_at, now=now)
    if state == InviteState.Expired:
        raise Refused(410, "invite_expired", "This invite has expired. Ask the brand to send it again.")
    if state == InviteState.Revoked:
        raise Refused(410, "invite_revoked", "This invite is not valid any more.")
    return state


def _enroll(invite: InviteWithProgram, program: programs.Program, now: datetime) -> tuple[UUID, str | None]:
    """Return the affiliate's id and what they were given of the slug that the invite promised."""
    organization_id = invite.organization_id
    advisory_locks.stage_person_lock(organization_id=organization_id, email=invite.email)
    existing = affiliates.find_by_email(organization_id=organization_id, program_id=program.id, email=invite.email)
    if existing is not None:
        return existing.id, _promised_slug(existing, invite)
    kept_slug = _reserve_slug(invite)
    enrolled = enrollment.join(_columns(invite), alias=kept_slug, now=now)
    return enrolled.affiliate.id, kept_slug


def _promised_slug(affiliate: Affiliate, invite: InviteWithProgram) -> str | None:
    has_it = invite.slug is not None and invites.has_link(
        organization_id=affiliate.organization_id, affiliate_id=affiliate.id, slug=invite.slug
    )
    return invite.slug if has_it else None


def _reserve_slug(invite: InviteWithProgram) -> str | None:
    """Hold the promised slug for this person and return it; None when somebody else has it or it cannot be one."""
    slug = invite.slug
    if slug is None or not slugs.is_valid_strict(slug) or slugs.is_reserved(slug):
        return None
    advisory_locks.take_slug_lock(organization_id=invite.organization_id, slug=slug)
    return None if invites.lock_slug_and_check_taken(slug=slug, email=invite.email) else slug


def _columns(invite: InviteWithProgram) -> dict[str, Any]:
    status = statuses.AffiliateStatus.Approved if invite.auto_approve else statuses.AffiliateStatus.Pending
    return {
        "organization_id": invite.organization_id,
        "program_id": invite.program_id,
        "email": invite.email,
        "full_name": invite.full_name,
        "status": status.value,
        "source": statuses.AffiliateSource.Invite.value,
        "custom_commission_type": invite.custom_commission_type,
        "custom_commission_value": invite.custom_commission_value,
        "custom_commission_currency": invite.custom_commission_currency,
        "is_test": invite.is_test,
    }


def _find_outcome(invite: InviteWithProgram) -> Acceptance:
    affiliate_id = invite.affiliate_id
    assert affiliate_id is not None  # the table holds that for an accepted one
    outcome = invites.find_invited_affiliate(organization_id=invite.organization_id, affiliate_id=affiliate_id)
    slug = invite.kept_slug or outcome.slug
    links = tracking_links.list_of_affiliates(organization_id=invite.organization_id, affiliate_ids=[affiliate_id])
    was_promised = invite.slug is not None and invite.kept_slug is None
    return Acceptance(
        affiliate_id=affiliate_id,
        program_id=invite.program_id,
        status=outcome.status,
        slug=slug,
        warning=_SLUG_UNAVAILABLE if was_promised else None,
        link=next((link for link in links if link.slug == slug), None),
    )
