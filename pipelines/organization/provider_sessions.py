"""Sessions backed by an identity provider: started with its ID token, checked again there every 15 minutes.

Then a changed role or a removed person takes effect. While the provider is unreachable its last answer counts for an
hour. If it gave no refresh token, the check goes through the browser: the next page redirects there.
"""

import dataclasses
from datetime import UTC, datetime, timedelta

import structlog

import settings
from adapters.identity import oidc, tokens
from adapters.identity.oidc import OidcClient, OidcRefused, OidcTokens, OidcUnavailable, ProviderKind
from adapters.identity.tokens import Claims
from adapters.secret_key import sealing
from models import db
from models.organization import audit, member_invites, memberships, web_sessions
from models.organization.web_sessions import WebSession
from pipelines.organization import sessions
from pipelines.organization.sessions import StartedSession
from pipelines.organization.team import changes, invitations

#: How long a provider's answer about a person counts before the next check.
CHECK_INTERVAL = timedelta(minutes=15)
_MAX_STALENESS = timedelta(hours=1)
_RETRY = timedelta(minutes=1)
# Longer than all calls of one refresh; meanwhile other requests use the last answer.
_REFRESH_TIMEOUT = timedelta(seconds=30)
_PROVIDERS: dict[str, ProviderKind] = {"member": "dashboard", "account": "affiliate", "operator": "dashboard"}
_log = structlog.get_logger(__name__)
_ACTORS = {"member": "member", "account": "affiliate", "operator": "operator"}


class EmailNotVerified(Exception):
    """A person's provider does not say that their email address is verified, so the team list cannot find them."""


def client(kind: str) -> OidcClient | None:
    """Return the client of the provider for a kind of sessions; None without a provider."""
    if kind == "operator" and settings.current().identity.operator_claim is None:
        return None
    return oidc.find_client(_PROVIDERS[kind])


def any_org_start(
    kind: str, provider_tokens: OidcTokens, *, issuer: str, cookie: str | None, user_agent: str, now: datetime
) -> StartedSession | None:
    """Start the session of a person who signed in at a provider; None if they have no access of this kind or no tenant.

    The session of the browser's former `cookie` ends. Where roles come from the team list, the organization is that of
    the former session, else the one that the person visited last. Raises EmailNotVerified there.
    """
    claims = _claims_for(kind, provider_tokens)
    if claims is not None and kind == "member" and changes.takes_roles_from_members():
        claims = _any_org_find_member_claims(claims, cookie=cookie, now=now)
    if claims is None:
        return None
    new_cookie = sessions.create_cookie()
    id_hash = sessions.secret_hash(new_cookie)
    logged_in_at_s = oidc.login_time(provider_tokens.claims)
    logged_in_at = now if logged_in_at_s is None else datetime.fromtimestamp(logged_in_at_s, UTC)
    session = WebSession(
        id_hash=id_hash,
        kind=kind,
        organization_id=claims.organization_id,
        role=claims.role,
        subject=claims.subject,
        email=claims.email,
        is_email_verified=claims.is_email_verified,
        signed_in_at=min(logged_in_at, now),
        seen_at=now,
        expires_at=now + sessions.LIFETIMES[kind],
        user_agent=sessions.trim_user_agent(user_agent),
        issuer=issuer,
        refreshed_at=now,
        refresh_from=now + CHECK_INTERVAL,
        refresh_sealed=_seal(provider_tokens.refresh_token, id_hash),
        is_login_dated=logged_in_at_s is not None,
        signed_in_by="provider",
    )
    member_id = sessions.any_org_sign_member_in(session, now=now) if kind == "member" else None
    if kind == "member" and member_id is None:
        return None
    return sessions.any_org_start(session, new_cookie=new_cookie, member_id=member_id, cookie=cookie, now=now)


def renew(session: WebSession, *, now: datetime) -> WebSession | None:
    """Return a session, refreshed at its provider if that is due; None if it has ended.

    Opens its own transactions, and none is open during the call to the provider. Of several concurrent requests one
    calls it, and the others use the last answer. Without a refresh token it cannot be called from here, see
    `needs_browser_check`.
    Budget: nothing except once in 15 minutes; then 4 round trips and a call to the provider.
    """
    if session.issuer is None or session.refresh_from is None or session.refreshed_at is None:
        return session
    provider = client(session.kind)
    if provider is None or provider.issuer != session.issuer:
        return None
    if now < session.refresh_from:
        return session
    if session.refresh_sealed is None:
        return session if now - session.refreshed_at <= _MAX_STALENESS else None
    with db.any_org_work():
        is_mine = web_sessions.any_org_claim_refresh(id_hash=session.id_hash, now=now, until=now + _REFRESH_TIMEOUT)
    return _refresh(provider, session, now=now) if is_mine else session


def needs_browser_check(session: WebSession, *, now: datetime) -> bool:
    """Return whether a session must be checked through the browser now, because there is no refresh token."""
    return session.refresh_from is not None and session.refresh_sealed is None and now >= session.refresh_from


def _refresh(provider: OidcClient, session: WebSession, *, now: datetime) -> WebSession | None:
    assert session.refresh_sealed is not None  # `renew` has checked it
    assert session.refreshed_at is not None
    try:
        # Not through the cache of sealed secrets, which lives as long as the process.
        token = sealing.unseal.__wrapped__(session.refresh_sealed, belongs_to=session.id_hash.hex())
        provider_tokens = oidc.refresh(provider, token)
    except OidcUnavailable as error:
        _log.warning("session.provider_away", issuer=provider.issuer, why=str(error))
        if now - session.refreshed_at > _MAX_STALENESS:
            _end(session, now=now)
            return None
        with db.any_org_work():
            web_sessions.any_org_stage_refresh_from(id_hash=session.id_hash, at=now + _RETRY)
        return session
    except (OidcRefused, sealing.CannotUnseal) as error:
        _log.info("session.refused", issuer=provider.issuer, why=str(error))
        _end(session, now=now)
        return None
    if provider_tokens is None:
        # OpenID Connect Core, section 12.2: a refresh may have no ID token. Then the check goes through the browser.
        return _store(dataclasses.replace(session, refresh_from=now, refresh_sealed=None))
    claims = _claims_for(session.kind, provider_tokens)
    if claims is not None and session.kind == "member" and changes.takes_roles_from_members():
        claims = _with_role_of_session(claims, session)
    expected = (session.subject, session.organization_id)
    if claims is None or (claims.subject, claims.organization_id) != expected:
        _log.info("session.refused", issuer=provider.issuer, why="the provider returned a person without access")
        _end(session, now=now)
        return None
    refreshed = dataclasses.replace(
        session,
        role=claims.role,
        email=claims.email,
        is_email_verified=claims.is_email_verified,
        refreshed_at=now,
        refresh_from=now + CHECK_INTERVAL,
        refresh_sealed=_seal(provider_tokens.refresh_token, session.id_hash) or session.refresh_sealed,
    )
    return _store(refreshed)


def _store(session: WebSession) -> WebSession | None:
    with db.any_org_work():
        exists = web_sessions.any_org_refresh(session, keeps_role=changes.takes_roles_from_members())
    return session if exists else None


def _claims_for(kind: str, provider_tokens: OidcTokens) -> Claims | None:
    """Return the person of an ID token for a kind of sessions; None if the token gives no access there."""
    if kind == "member" and not changes.takes_roles_from_members():
        return tokens.parse_dashboard_claims(provider_tokens.claims)
    if kind == "operator" and not _is_operator(provider_tokens):
        return None
    return tokens.parse_claims(provider_tokens.claims)


def _any_org_find_member_claims(claims: Claims, *, cookie: str | None, now: datetime) -> Claims | None:
    """Return claims with the organization and role of the team list, by the verified email; None without a membership.

    A person without a membership accepts their newest invitation. Raises EmailNotVerified.
    """
    if not claims.is_email_verified:
        raise EmailNotVerified
    rows = memberships.any_org_list_memberships(email=claims.email, subject=claims.subject)
    if not rows:
        invites = member_invites.any_org_list_by_email(claims.email, now=now)
        if not invites or invitations.any_org_accept(invites[0], now=now) is None:
            return None
        rows = memberships.any_org_list_memberships(email=claims.email, subject=claims.subject)
    former = sessions.any_org_find(cookie, now=now) if cookie else None
    current = [row for row in rows if former is not None and row.organization_id == former.organization_id]
    organization_id = (current or rows)[0].organization_id
    member = sessions.any_org_enter(organization_id, claims.email, claims.subject)
    return None if member is None else dataclasses.replace(claims, organization_id=organization_id, role=member[1])


def _with_role_of_session(claims: Claims, session: WebSession) -> Claims | None:
    """Return refreshed claims with the session's role, which changes with the team list; None for another email."""
    if not claims.is_email_verified or claims.email != session.email:
        return None
    return dataclasses.replace(claims, organization_id=session.organization_id, role=session.role)


def _is_operator(provider_tokens: OidcTokens) -> bool:
    operator_claim = settings.current().identity.operator_claim
    if operator_claim is None:
        return False
    name, value = operator_claim
    claim = provider_tokens.claims.get(name)
    return claim == value or (isinstance(claim, list) and value in claim)


def _seal(refresh_token: str | None, id_hash: bytes) -> bytes | None:
    return sealing.seal(refresh_token, belongs_to=id_hash.hex()) if refresh_token else None


def _end(session: WebSession, *, now: datetime) -> None:
    """End a session that its provider no longer vouches for."""
    with db.any_org_work():
        if web_sessions.any_org_end(session.id_hash) is not None:
            audit.stage(
                organization_id=session.organization_id,
                action="session.ended",
                entity_id=session.id_hash.hex(),
                actor_type=_ACTORS[session.kind],
                actor_label=session.email or session.subject,
                after={"by": "provider"},
                at=now,
            )
