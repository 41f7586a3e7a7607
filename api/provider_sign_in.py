"""Signing in at an identity provider, between the browser's leaving for it and its coming back.

What a sign-in begins with is sealed in a cookie of the browser that began it, for ten minutes: another browser cannot
end it, and nothing of it is kept here.
"""

import base64
import binascii
import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Literal

import orjson
import structlog

import settings
from adapters import clock, sealing
from adapters.identity import oidc
from adapters.identity.oidc import OidcAway, OidcBegin, OidcNotFresh, OidcRefused
from api import sessions
from api.access import persons
from api.sessions import NewSession
from domain.text import stored
from models import db
from pipelines.organization import provider_sessions

#: For how long a sign-in may take.
LIFETIME = timedelta(minutes=10)

_USE = "sign-in at a provider"
# What a cookie without its fields, or with others in their place, raises.
_MALFORMED = (ValueError, TypeError, KeyError)
# Browsers keep a cookie of 4,096 bytes, and a request has several.
_MAX_BACK_LENGTH = 1_000

_log = structlog.get_logger(__name__)


class SignInFailed(Exception):
    """A sign-in that ends with nobody signed in.

    `why`: the provider is `away` or does not know us; the sign-in is `lost`, because this browser did not begin it, or
    too long ago; it is `refused`; the person is `nobody` here; or a new login was wanted, and this is `not_fresh`.
    `back` is the page of ours that they wanted to see.
    """

    def __init__(
        self, why: Literal["away", "lost", "refused", "nobody", "not_fresh"], *, back: str | None = None
    ) -> None:
        super().__init__(why)
        self.why, self.back = why, back


@dataclass(frozen=True, slots=True)
class ProviderRedirect:
    """Where a browser goes to sign in; what it comes back with in the address, and the text that it keeps meanwhile."""

    address: str
    state: str
    sealed: str


@dataclass(frozen=True, slots=True)
class _PendingSignIn:
    """A sign-in on its way: by which provider, to which page of ours, and what it is held against."""

    by: str
    back: str | None
    begin: OidcBegin


def start(by: str, *, back: str | None, is_again: bool) -> ProviderRedirect | None:
    """Return the way to a provider; None where none signs people in `by` this name.

    `back` is the page of ours to be led to afterwards, unless it is very long. `is_again` has them log in anew over
    there. Raises NotSignedIn.
    """
    kind = sessions.PROVIDED.get(by, "")
    client = provider_sessions.client(kind) if kind else None
    if client is None:
        return None
    begin = oidc.begin(is_fresh=is_again, at_s=int(clock.now().timestamp()))
    try:
        address = oidc.address(client, begin, back=_callback())
    except OidcAway as error:
        _log.warning("sign_in.provider_away", issuer=client.issuer, why=str(error))
        raise SignInFailed("away", back=back) from error
    short_back = back if back and len(back) <= _MAX_BACK_LENGTH else None
    return ProviderRedirect(address, begin.state, _seal(_PendingSignIn(by, short_back, begin)))


def finish(sealed: str | None, params: Mapping[str, str], *, cookie: str | None) -> tuple[NewSession, str | None]:
    """Begin the session of who comes back from a provider; return it with the page of ours that they wanted to see.

    `kept` is the text that this browser left with, `told` what the provider had it say in the address. What the
    browser's `cookie` stood for ends. Raises NotSignedIn.
    """
    pending = _unseal(sealed) if sealed else None
    if pending is None or not hmac.compare_digest(pending.begin.state.encode(), params.get("state", "").encode()):
        _log.info("sign_in.refused", why="this browser did not begin it, or too long ago")
        raise SignInFailed("lost")
    try:
        return _begin_session(pending, params, cookie=cookie), pending.back
    except OidcAway as error:
        _log.warning("sign_in.provider_away", by=pending.by, why=str(error))
        raise SignInFailed("away", back=pending.back) from error
    except OidcRefused as error:
        _log.info("sign_in.refused", by=pending.by, why=str(error))
        why: Literal["not_fresh", "refused"] = "not_fresh" if isinstance(error, OidcNotFresh) else "refused"
        raise SignInFailed(why, back=pending.back) from error


def _begin_session(pending: _PendingSignIn, params: Mapping[str, str], *, cookie: str | None) -> NewSession:
    kind = sessions.PROVIDED[pending.by]
    client = provider_sessions.client(kind)
    if client is None:
        raise OidcRefused("no provider signs these people in any more")
    oidc.check_sender(client, params.get("iss"))
    oidc.check_said(params.get("error"))
    if not params.get("code"):
        raise OidcRefused("there is no code in the answer")
    identity = oidc.redeem(client, pending.begin, code=params["code"], back=_callback())
    with db.any_org_work():
        begun = provider_sessions.any_org_begin(
            kind,
            identity,
            issuer=client.issuer,
            cookie=cookie,
            user_agent=sessions.user_agent() or "",
            now=clock.now(),
        )
        session = sessions.stage_audit(begun, by="provider") if begun is not None else None
    if session is None:
        _log.info("sign_in.refused", by=pending.by, why="the person opens nothing here: see org_id, role and claims")
        raise SignInFailed("nobody", back=pending.back)
    if cookie:
        persons.forget(cookie)
    return session


def _callback() -> str:
    return f"{settings.current().web.url}/sign-in/callback"


def _seal(pending: _PendingSignIn) -> str:
    text = orjson.dumps(asdict(pending)).decode()
    return base64.urlsafe_b64encode(sealing.seal(text, belongs_to=_USE)).decode().rstrip("=")


def _unseal(sealed: str) -> _PendingSignIn | None:
    """Return a sign-in that is on its way; None for one that took too long, and for what is none of ours."""
    try:
        packed = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
        # Not through the cache of sealed secrets: it is opened once.
        content = orjson.loads(sealing.unseal.__wrapped__(packed, belongs_to=_USE))
        begin = stored.read(OidcBegin, content["begin"])
        pending = _PendingSignIn(content["by"], content["back"], begin)
    except (binascii.Error, *_MALFORMED, sealing.CannotOpen):
        return None
    return pending if begin.at_s + LIFETIME.total_seconds() > clock.now().timestamp() else None
