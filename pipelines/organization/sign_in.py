"""Members and affiliates who sign in with a token; their rows are created at the first sign-in.

The identity provider decides who a person is and, for the dashboard, their role; our row is what the audit log, their
keys and their rate limit refer to.
Source: core spec, section 5; "Affiliate invites", invite rules (the account-level referral slug).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from domain.notifications import kinds
from domain.organization.access import Role
from models import ids
from models.affiliates import accounts
from models.organization import members
from models.organization.members import MemberWithPlan

# The last visit is recorded to the day.
_SEEN_EVERY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SignedInAffiliate:
    """An affiliate who signed in. `id` is None until the first sign-in with a verified email.

    `signed_in_at` is when they logged in; None if unknown.
    """

    id: UUID | None
    subject: str
    email: str
    is_email_verified: bool
    slug: str | None
    signed_in_at: datetime | None = None


def sign_member_in(
    *,
    organization_id: UUID,
    subject: str,
    email: str,
    is_email_verified: bool,
    role: Role,
    now: datetime,
    issued_at: datetime | None = None,
) -> MemberWithPlan | None:
    """Return the member of a dashboard token with their organization's permissions; None if it does not exist.

    A token that this service issued (`issued_at`) before the team changed the role or removed the person is worth
    nothing. What an identity provider says now, and a link that the operator gives out, brings a removed person back.
    """
    counted = kinds.list_counted(role)
    known_member = _find_member(organization_id, subject, counted, now)
    if known_member is None or _is_outdated(known_member, issued_at):
        return None
    if known_member.id is None:
        person: dict[str, Any] = {"organization_id": organization_id, "email": email, "role": role, "subject": subject}
        # A member created by email is this person, provided that the email is verified.
        if not (is_email_verified and members.claim(**person)):
            members.insert({"id": ids.new_id(), **person, "is_email_verified": is_email_verified, "created_at": now})
        return members.find_with_plan(organization_id=organization_id, subject=subject, kinds=counted)
    stored = (known_member.role, known_member.email, known_member.is_email_verified, known_member.removed_at)
    if stored != (role, email, is_email_verified, None):
        members.stage_change(
            known_member, organization_id=organization_id, role=role, email=email, is_email_verified=is_email_verified
        )
    return known_member


def find_session_member(*, organization_id: UUID, subject: str, role: Role, now: datetime) -> MemberWithPlan | None:
    """Return the active member of a session, with their organization's permissions; None if they were removed."""
    member = _find_member(organization_id, subject, kinds.list_counted(role), now)
    return None if member is None or member.id is None or member.removed_at is not None else member


def sign_program_in(
    *,
    organization_id: UUID,
    subject: str,
    email: str,
    role: Role,
    now: datetime,
    issued_at: datetime | None = None,
) -> MemberWithPlan | None:
    """Return the member who authorized a program, with their organization's permissions; None if it does not exist.

    The member's own role is not changed: a program may have been given a smaller one. A program of a member whom the
    team removed is refused, and so is a token (`issued_at`) from before the team changed the role. Its email is not
    verified: a new row signs no one in to the dashboard by email.
    """
    member = _find_member(organization_id, subject, (), now)
    if member is None or member.removed_at is not None or _is_outdated(member, issued_at):
        return None
    if member.id is not None:
        return member
    person: dict[str, Any] = {"organization_id": organization_id, "email": email, "role": role, "subject": subject}
    members.insert({"id": ids.new_id(), **person, "is_email_verified": False, "created_at": now})
    return members.find_with_plan(organization_id=organization_id, subject=subject, kinds=())


def any_org_sign_affiliate_in(*, subject: str, email: str, is_email_verified: bool, now: datetime) -> SignedInAffiliate:
    """Return the account of an affiliate's token; the first verified sign-in creates it.

    Affiliates of every tenant with this verified email become the account's. Runs in a transaction that sees every
    tenant.
    """
    account = accounts.find(subject)
    if not is_email_verified or not email:
        return SignedInAffiliate(
            account.id if account else None, subject, email, False, account.slug if account else None
        )
    if account is None:
        slug = accounts.any_org_find_promised_slug(email)
        account = accounts.insert_once(account_id=ids.new_id(), subject=subject, email=email, slug=slug, at=now)
    elif account.email != email:
        accounts.stage_email(account_id=account.id, email=email)
    accounts.any_org_stage_adoption(account_id=account.id, email=email)
    return SignedInAffiliate(account.id, subject, email, True, account.slug)


def _find_member(organization_id: UUID, subject: str, counted: Sequence[str], now: datetime) -> MemberWithPlan | None:
    member = members.find_with_plan(organization_id=organization_id, subject=subject, kinds=counted)
    if member is not None and member.id and member.seen_at and now - member.seen_at > _SEEN_EVERY:
        members.stage_seen(organization_id=organization_id, member_id=member.id, at=now)
    return member


def _is_outdated(member: MemberWithPlan, issued_at: datetime | None) -> bool:
    """Return whether the team changed a member's access after a token was issued."""
    return issued_at is not None and member.access_changed_at is not None and issued_at <= member.access_changed_at
