"""Callers who are people: members of an organization and affiliates, by a token or a session."""

import dataclasses
from datetime import UTC, datetime
from uuid import UUID

from adapters import clock
from adapters.identity import tokens
from adapters.identity.tokens import Claims
from api.access import callers
from api.access.callers import Caller
from domain.organization.access import Role
from models import db
from models.organization import memberships
from models.organization.members import MemberWithPlan
from pipelines.organization import sessions, sign_in
from pipelines.organization.team import changes


def find_member(token: str | None) -> Caller | None:
    """Return the dashboard member of a token, or None."""
    return callers.find_cached(token, "member", _find_member_by_token)


def find_account(token: str | None) -> sign_in.SignedInAffiliate | None:
    """Return the affiliate account of a token, or None."""
    return callers.find_cached(token, "account", _find_account_by_token)


def member_from_claims(claims: Claims, *, is_local_token: bool = False) -> Caller | None:
    """Return the member of dashboard claims; None if their organization does not exist.

    The role is that of the claims. A token of this service from before the team changed its member is worth nothing.
    """
    if claims.organization_id is None:
        return None
    role, signed_in_at = Role(claims.role or ""), _datetime_from_seconds(claims.signed_in_at_s)
    with db.unit_of_work(claims.organization_id):
        person = sign_in.sign_member_in(
            organization_id=claims.organization_id,
            subject=claims.subject,
            email=claims.email,
            is_email_verified=claims.is_email_verified,
            role=role,
            now=clock.now(),
            issued_at=signed_in_at if is_local_token else None,
        )
    return _member_caller(claims, person, claims.organization_id, role)


def member_of_session(claims: Claims, *, max_login_age_s: int | None) -> Caller | None:
    """Return the member of a session whose role the team list sets; None if the team has removed them."""
    assert claims.organization_id is not None  # it is a member's
    with db.unit_of_work(claims.organization_id):
        person = sign_in.find_session_member(
            organization_id=claims.organization_id,
            subject=claims.subject,
            role=Role(claims.role or ""),
            now=clock.now(),
        )
    caller = _member_caller(claims, person, claims.organization_id, Role(claims.role or ""))
    if caller is None or person is None:
        return None
    # An identity provider has second factors of its own.
    lacks_second_factor = person.lacks_second_factor and changes.signs_in_by_email()
    return dataclasses.replace(caller, max_login_age_s=max_login_age_s, lacks_second_factor=lacks_second_factor)


def account_from_claims(claims: Claims) -> sign_in.SignedInAffiliate:
    """Return the affiliate account of claims."""
    with db.any_org_work():
        account = sign_in.any_org_sign_affiliate_in(
            subject=claims.subject, email=claims.email, is_email_verified=claims.is_email_verified, now=clock.now()
        )
    return dataclasses.replace(account, signed_in_at=_datetime_from_seconds(claims.signed_in_at_s))


def _find_member_by_token(token: str) -> tuple[Caller | None, float]:
    if changes.takes_roles_from_members():
        claims = tokens.verify_person(token)
        member = _member_from_team(claims) if claims is not None else None
    else:
        claims = tokens.verify_dashboard(token)
        is_local = changes.is_managed_here()
        member = member_from_claims(claims, is_local_token=is_local) if claims is not None else None
    return (None, 0) if claims is None else (member, claims.expires_at_s - clock.now().timestamp())


def _member_from_team(claims: Claims) -> Caller | None:
    """Return the member of a provider's token by the team list: of the organization that it names, or of the only one.

    None without a verified email, or without a membership.
    """
    if not claims.is_email_verified:
        return None
    with db.any_org_work():
        rows = memberships.any_org_list_memberships(email=claims.email, subject=claims.subject)
        if claims.organization_id is not None:
            rows = [row for row in rows if row.organization_id == claims.organization_id]
        member = (
            sessions.any_org_enter(rows[0].organization_id, claims.email, claims.subject) if len(rows) == 1 else None
        )
    if member is None:
        return None
    selected = dataclasses.replace(claims, organization_id=rows[0].organization_id, role=member[1])
    return member_of_session(selected, max_login_age_s=None)


def _member_caller(claims: Claims, person: MemberWithPlan | None, organization_id: UUID, role: Role) -> Caller | None:
    if person is None or person.id is None:
        return None
    return Caller(
        kind="member",
        id=person.id,
        organization_id=organization_id,
        member_id=person.id,
        label=claims.email or claims.subject,
        scope="read_write",
        role=role,
        is_email_verified=claims.is_email_verified,
        is_interactive=claims.session_id is not None,
        is_test=False,
        plan_tier=person.plan_tier,
        subscription_status=person.subscription_status,
        trial_ends_at=person.trial_ends_at,
        gateways=person.gateways,
        signed_in_at=_datetime_from_seconds(claims.signed_in_at_s),
        timezone=person.timezone,
        unread_count=person.unread_count,
    )


def _find_account_by_token(token: str) -> tuple[sign_in.SignedInAffiliate | None, float]:
    claims = tokens.verify_affiliate(token)
    return (None, 0) if claims is None else (account_from_claims(claims), claims.expires_at_s - clock.now().timestamp())


def _datetime_from_seconds(at_s: int | None) -> datetime | None:
    return None if at_s is None else datetime.fromtimestamp(at_s, UTC)
