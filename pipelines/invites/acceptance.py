"""Preview of an invite, and its acceptance (once), by the holder of its link.

Source: core spec, "Affiliate invites", invite rules, and section 3 (Invite).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain import slugs, statuses
from domain.invites import InviteState, state_at
from domain.notifications.kinds import NotificationKind
from domain.refusals import Refused
from models import advisory_locks, invites
from models.affiliates import affiliates, tracking_links
from models.affiliates.affiliates import Affiliate
from models.invites import InviteWithProgram
from models.notifications.feed import NewNotice
from models.organization import organizations
from models.programs import programs
from pipelines.affiliates import enrollment
from pipelines.invites import invitations
from pipelines.invites.invite_email import InviteContext
from pipelines.notifications import notices

_SLUG_UNAVAILABLE = "slug_unavailable"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The result of an acceptance. `warning` is set if the promised slug was not available.

    `link` is the link of `slug`, None if the brand has removed it since.
    """

    affiliate_id: UUID
    program_id: UUID
    status: str
    slug: str
    warning: str | None
    link: tracking_links.LinkView | None


@dataclass(frozen=True, slots=True)
class OpenedInvite:
    """An invite with its brand and program; `standing` is set once it is accepted."""

    occasion: InviteContext
    state: InviteState
    standing: Acceptance | None


@dataclass(frozen=True, slots=True)
class AcceptedInvite:
    """An accepted invite and its result; `before` is the earlier invite, None if it was already accepted."""

    invite: InviteWithProgram
    standing: Acceptance
    before: InviteWithProgram | None


def any_org_organization(token_hash: bytes) -> UUID:
    """Return the organization of a token's invite. Raises the same Refused 404 not_found for every invalid token."""
    organization_id = invites.any_org_find_organization(token_hash)
    if organization_id is None:
        raise unknown_invite_refusal()
    return organization_id


def preview(*, organization_id: UUID, token_hash: bytes, now: datetime) -> OpenedInvite:
    """Return an invite with its brand and program.

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

    A person who joined in the meantime stays unchanged.
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
    """Return the refusal for an invalid token."""
    return Refused(404, "not_found", "There is no such invite.")


def _check_valid(invite: InviteWithProgram, now: datetime) -> InviteState:
    state = state_at(invite.state, expires_at=invite.expires_at, now=now)
    if state == InviteState.Expired:
        raise Refused(410, "invite_expired", "This invite has expired. Ask the brand to send it again.")
    if state == InviteState.Revoked:
        raise Refused(410, "invite_revoked", "This invite is no longer valid.")
    return state


def _enroll(invite: InviteWithProgram, program: programs.Program, now: datetime) -> tuple[UUID, str | None]:
    """Return the affiliate's id, and the promised slug if they have it."""
    organization_id = invite.organization_id
    advisory_locks.stage_person_lock(organization_id=organization_id, email=invite.email)
    existing = affiliates.find_by_email(organization_id=organization_id, program_id=program.id, email=invite.email)
    if existing is not None:
        return existing.id, _promised_slug(existing, invite)
    kept_slug = _reserve_slug(invite)
    affiliate = enrollment.join(_columns(invite), alias=kept_slug, now=now).affiliate
    if affiliate.status == statuses.AffiliateStatus.Pending and not invite.is_test:
        notices.stage(NewNotice(organization_id, NotificationKind.NewApplication.value, affiliate.id))
    return affiliate.id, kept_slug


def _promised_slug(affiliate: Affiliate, invite: InviteWithProgram) -> str | None:
    has_it = invite.slug is not None and invites.has_link(
        organization_id=affiliate.organization_id, affiliate_id=affiliate.id, slug=invite.slug
    )
    return invite.slug if has_it else None


def _reserve_slug(invite: InviteWithProgram) -> str | None:
    """Reserve the promised slug for this person and return it; None if it is taken or invalid."""
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
    assert affiliate_id is not None  # a constraint: an accepted invite has one
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
