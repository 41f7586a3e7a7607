"""People who arrive with a token: who they are to us, made on their first sign-in.

The identity provider says who somebody is and, for the dashboard, which role they have; we keep a row so that the
audit log, the keys they make and their rate limit have somebody to point at.
Source: core spec, section 5; "Affiliate invites", invite rules (the account-level referral slug).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from domain.organization.access import Role
from models import ids
from models.affiliates import accounts
from models.organization import members
from models.organization.members import MemberWithPlan

# Whether somebody still comes is known to the day.
_SEEN_EVERY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """An affiliate who signed in. `id` is None until the first sign-in with a verified email.

    `signed_in_at` is when they logged in; None where nobody says.
    """

    id: UUID | None
    subject: str
    email: str
    is_email_verified: bool
    slug: str | None
    signed_in_at: datetime | None = None


def member(
    *, organization_id: UUID, subject: str, email: str, is_email_verified: bool, role: Role, now: datetime
) -> MemberWithPlan | None:
    """Return the member behind a dashboard token with what their organization may do; None without such a tenant."""
    found = _seen(organization_id, subject, now)
    if found is None or (found.role, found.email) == (role, email):
        return found
    if found.id is None:
        person: dict[str, Any] = {"organization_id": organization_id, "email": email, "role": role, "subject": subject}
        # A member who was made by email is this person, provided that the email is really theirs.
        if not (is_email_verified and members.claim(**person)):
            members.insert({"id": ids.new_id(), **person, "created_at": now})
        return members.find_with_plan(organization_id=organization_id, subject=subject)
    members.stage_change(organization_id=organization_id, member_id=found.id, role=role, email=email)
    return found


def program(*, organization_id: UUID, subject: str, email: str, role: Role, now: datetime) -> MemberWithPlan | None:
    """Return the member who let a program in, with what their organization may do; None without such a tenant.

    What is known of them stays as their own sign-in said: a program may have been given a smaller role.
    """
    found = _seen(organization_id, subject, now)
    if found is None or found.id is not None:
        return found
    person = {"organization_id": organization_id, "email": email, "role": role, "subject": subject}
    members.insert({"id": ids.new_id(), **person, "created_at": now})
    return members.find_with_plan(organization_id=organization_id, subject=subject)


def any_org_account(*, subject: str, email: str, is_email_verified: bool, now: datetime) -> SignedIn:
    """Return the account behind an affiliate's token; the first verified sign-in makes it.

    Affiliates of every tenant who have this verified email become the account's. Runs in a transaction that sees
    every tenant.
    """
    known = accounts.find(subject)
    if not is_email_verified or not email:
        return SignedIn(known.id if known else None, subject, email, False, known.slug if known else None)
    if known is None:
        slug = accounts.any_org_find_promised_slug(email)
        known = accounts.insert_once(account_id=ids.new_id(), subject=subject, email=email, slug=slug, at=now)
    elif known.email != email:
        accounts.stage_email(account_id=known.id, email=email)
    accounts.any_org_stage_adoption(account_id=known.id, email=email)
    return SignedIn(known.id, subject, email, True, known.slug)


def _seen(organization_id: UUID, subject: str, now: datetime) -> MemberWithPlan | None:
    found = members.find_with_plan(organization_id=organization_id, subject=subject)
    if found is not None and found.id and found.seen_at and now - found.seen_at > _SEEN_EVERY:
        members.stage_seen(organization_id=organization_id, member_id=found.id, at=now)
    return found
