"""Sessions that an identity provider vouches for: begun with its ID token, and asked about again every 15 minutes.

A role that changes over there, and a person who is no longer let in, take effect then. While the provider cannot be
asked its last word holds for an hour. Where it gave no refresh token, the browser asks it: the next page leads there.
"""

import dataclasses
from datetime import UTC, datetime, timedelta

import structlog

import settings
from adapters import sealing
from adapters.identity import oidc, tokens
from adapters.identity.oidc import OidcAway, OidcClient, OidcRefused, OidcTokens, ProviderKind
from adapters.identity.tokens import Claims
from models import db
from models.organization import audit, web_sessions
from models.organization.web_sessions import WebSession
from pipelines.organization import sessions
from pipelines.organization.sessions import StartedSession

#: For how long what a provider said of a person holds.
CHECK_INTERVAL = timedelta(minutes=15)
_MAX_STALENESS = timedelta(hours=1)
_RETRY = timedelta(minutes=1)
# Longer than all the calls of one refresh: meanwhile others go on with what was said before.
_REFRESH_TIMEOUT = timedelta(seconds=30)
_PROVIDERS: dict[str, ProviderKind] = {"member": "dashboard", "account": "affiliate", "operator": "dashboard"}
_log = structlog.get_logger(__name__)
_ACTORS = {"member": "member", "account": "affiliate", "operator": "operator"}


def client(kind: str) -> OidcClient | None:
    """Return the client of the provider that signs people of a kind (of sessions) in; None where there is none."""
    if kind == "operator" and settings.current().identity.operator_claim is None:
        return None
    return oidc.client(_PROVIDERS[kind])


def any_org_start(
    kind: str, provider_tokens: OidcTokens, *, issuer: str, cookie: str | None, user_agent: str, now: datetime
) -> StartedSession | None:
    """Begin the session of who signed in at a provider; None where that is nobody of this kind, or of no tenant.

    What the browser's `cookie` stood for ends.
    """
    claims = _claims_for(kind, provider_tokens)
    if claims is None:
        return None
    new_cookie = sessions.create_cookie()
    id_hash = sessions.secret_hash(new_cookie)
    logged_in_at_s = oidc.login_of(provider_tokens.claims)
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
    )
    member_id = sessions.any_org_sign_member_in(session, now=now) if kind == "member" else None
    if kind == "member" and member_id is None:
        return None
    return sessions.any_org_start(session, new_cookie=new_cookie, member_id=member_id, cookie=cookie, now=now)


def renew(session: WebSession, *, now: datetime) -> WebSession | None:
    """Return a session as its provider has it by now; None where it is over.

    Opens transactions of its own, and holds none while the provider is asked. Of several who come at once, one asks,
    and the others go on with what was said before. Without a refresh token nobody can be asked from here, see `is_due`.
    Budget: nothing but once in 15 minutes; then 4 round trips and a call to the provider.
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
    """Say whether a session's provider is to be asked through the browser: it gave no refresh token to ask it with."""
    return session.refresh_from is not None and session.refresh_sealed is None and now >= session.refresh_from


def _refresh(provider: OidcClient, session: WebSession, *, now: datetime) -> WebSession | None:
    assert session.refresh_sealed is not None  # whoever asks has seen it
    assert session.refreshed_at is not None
    try:
        # Not through the cache of sealed secrets: it lives as long as the process.
        token = sealing.unseal.__wrapped__(session.refresh_sealed, belongs_to=session.id_hash.hex())
        provider_tokens = oidc.refreshed(provider, token)
    except OidcAway as error:
        _log.warning("session.provider_away", issuer=provider.issuer, why=str(error))
        if now - session.refreshed_at > _MAX_STALENESS:
            _end(session, now=now)
            return None
        with db.any_org_work():
            web_sessions.any_org_stage_refresh_from(id_hash=session.id_hash, at=now + _RETRY)
        return session
    except (OidcRefused, sealing.CannotOpen) as error:
        _log.info("session.refused", issuer=provider.issuer, why=str(error))
        _end(session, now=now)
        return None
    if provider_tokens is None:
        # OpenID Connect Core, section 12.2: a refresh need not bring an ID token. Then the browser asks instead.
        return _store(dataclasses.replace(session, refresh_from=now, refresh_sealed=None))
    claims = _claims_for(session.kind, provider_tokens)
    expected = (session.subject, session.organization_id)
    if claims is None or (claims.subject, claims.organization_id) != expected:
        _log.info("session.refused", issuer=provider.issuer, why="the provider names nobody who may be here")
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
        exists = web_sessions.any_org_refresh(session)
    return session if exists else None


def _claims_for(kind: str, provider_tokens: OidcTokens) -> Claims | None:
    """Return whom an ID token speaks for at an area; None where it opens nothing there."""
    if kind == "member":
        return tokens.dashboard_person(provider_tokens.claims)
    if kind == "operator" and not _is_operator(provider_tokens):
        return None
    return tokens.person(provider_tokens.claims)


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
                entity_type="session",
                entity_id=session.id_hash.hex(),
                actor_type=_ACTORS[session.kind],
                actor_user_id=None,
                actor_label=session.email or session.subject,
                ip=None,
                user_agent=None,
                request_id=None,
                before=None,
                after={"by": "provider"},
                at=now,
            )
