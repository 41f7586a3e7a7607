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
from pipelines.organization.sessions import Begun

#: For how long what a provider said of a person holds.
HOLDS = timedelta(minutes=15)
_LAST_WORD_HOLDS = timedelta(hours=1)
_RETRY = timedelta(minutes=1)
# Longer than all the calls of one refresh: meanwhile others go on with what was said before.
_ASKING = timedelta(seconds=30)
_PROVIDERS: dict[str, ProviderKind] = {"member": "dashboard", "account": "affiliate", "operator": "dashboard"}
_log = structlog.get_logger(__name__)
_ACTORS = {"member": "member", "account": "affiliate", "operator": "operator"}


def client(kind: str) -> OidcClient | None:
    """Return the client of the provider that signs people of a kind (of sessions) in; None where there is none."""
    if kind == "operator" and settings.current().identity.operator_claim is None:
        return None
    return oidc.find_client(_PROVIDERS[kind])


def any_org_begin(
    kind: str, given: OidcTokens, *, issuer: str, cookie: str | None, user_agent: str, now: datetime
) -> Begun | None:
    """Begin the session of who signed in at a provider; None where that is nobody of this kind, or of no tenant.

    What the browser's `cookie` stood for ends.
    """
    person = _person(kind, given)
    if person is None:
        return None
    made = sessions.new_cookie()
    id_hash = sessions.secret_hash(made)
    logged_in_at_s = oidc.login_time(given.claims)
    logged_in_at = now if logged_in_at_s is None else datetime.fromtimestamp(logged_in_at_s, UTC)
    session = WebSession(
        id_hash=id_hash,
        kind=kind,
        organization_id=person.organization_id,
        role=person.role,
        subject=person.subject,
        email=person.email,
        is_email_verified=person.is_email_verified,
        signed_in_at=min(logged_in_at, now),
        seen_at=now,
        expires_at=now + sessions.LASTS[kind],
        user_agent=sessions.kept_user_agent(user_agent),
        issuer=issuer,
        refreshed_at=now,
        refresh_from=now + HOLDS,
        refresh_sealed=_sealed(given.refresh_token, id_hash),
        is_login_dated=logged_in_at_s is not None,
    )
    member_id = sessions.any_org_member(session, now=now) if kind == "member" else None
    if kind == "member" and member_id is None:
        return None
    return sessions.any_org_begin(session, made=made, member_id=member_id, cookie=cookie, now=now)


def renewed(session: WebSession, *, now: datetime) -> WebSession | None:
    """Return a session as its provider has it by now; None where it is over.

    Opens transactions of its own, and holds none while the provider is asked. Of several who come at once, one asks,
    and the others go on with what was said before. Without a refresh token nobody can be asked from here, see `is_due`.
    Budget: nothing but once in 15 minutes; then 4 round trips and a call to the provider.
    """
    if session.issuer is None or session.refresh_from is None or session.refreshed_at is None:
        return session
    of = client(session.kind)
    if of is None or of.issuer != session.issuer:
        return None
    if now < session.refresh_from:
        return session
    if session.refresh_sealed is None:
        return session if now - session.refreshed_at <= _LAST_WORD_HOLDS else None
    with db.any_org_work():
        is_mine = web_sessions.any_org_take_refresh(id_hash=session.id_hash, now=now, until=now + _ASKING)
    return _asked_anew(of, session, now=now) if is_mine else session


def is_due(session: WebSession, *, now: datetime) -> bool:
    """Say whether a session's provider is to be asked through the browser: it gave no refresh token to ask it with."""
    return session.refresh_from is not None and session.refresh_sealed is None and now >= session.refresh_from


def _asked_anew(of: OidcClient, session: WebSession, *, now: datetime) -> WebSession | None:
    assert session.refresh_sealed is not None  # whoever asks has seen it
    assert session.refreshed_at is not None
    try:
        # Not through the cache of sealed secrets: it lives as long as the process.
        token = sealing.unseal.__wrapped__(session.refresh_sealed, belongs_to=session.id_hash.hex())
        given = oidc.refresh(of, token)
    except OidcAway as error:
        _log.warning("session.provider_away", issuer=of.issuer, why=str(error))
        if now - session.refreshed_at > _LAST_WORD_HOLDS:
            _end(session, now=now)
            return None
        with db.any_org_work():
            web_sessions.any_org_stage_refresh_from(id_hash=session.id_hash, at=now + _RETRY)
        return session
    except (OidcRefused, sealing.CannotUnseal) as error:
        _log.info("session.refused", issuer=of.issuer, why=str(error))
        _end(session, now=now)
        return None
    if given is None:
        # OpenID Connect Core, section 12.2: a refresh need not bring an ID token. Then the browser asks instead.
        return _written(dataclasses.replace(session, refresh_from=now, refresh_sealed=None))
    person = _person(session.kind, given)
    same = (session.subject, session.organization_id)
    if person is None or (person.subject, person.organization_id) != same:
        _log.info("session.refused", issuer=of.issuer, why="the provider names nobody who may be here")
        _end(session, now=now)
        return None
    anew = dataclasses.replace(
        session,
        role=person.role,
        email=person.email,
        is_email_verified=person.is_email_verified,
        refreshed_at=now,
        refresh_from=now + HOLDS,
        refresh_sealed=_sealed(given.refresh_token, session.id_hash) or session.refresh_sealed,
    )
    return _written(anew)


def _written(anew: WebSession) -> WebSession | None:
    with db.any_org_work():
        is_there = web_sessions.any_org_refresh(anew)
    return anew if is_there else None


def _person(kind: str, given: OidcTokens) -> Claims | None:
    """Return whom an ID token speaks for at an area; None where it opens nothing there."""
    if kind == "member":
        return tokens.parse_dashboard_claims(given.claims)
    if kind == "operator" and not _is_operator(given):
        return None
    return tokens.parse_claims(given.claims)


def _is_operator(given: OidcTokens) -> bool:
    wanted = settings.current().identity.operator_claim
    if wanted is None:
        return False
    name, value = wanted
    said = given.claims.get(name)
    return said == value or (isinstance(said, list) and value in said)


def _sealed(refresh_token: str | None, id_hash: bytes) -> bytes | None:
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
