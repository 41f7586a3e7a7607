"""Sign-in at an identity provider: the redirect to it and the callback.

The state of a pending sign-in is sealed in a cookie of the browser for ten minutes: another browser cannot finish it,
and the server stores nothing.
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
from domain.text import stored_values
from models import db
from pipelines.organization import provider_sessions

#: How long a sign-in may take.
LIFETIME = timedelta(minutes=10)

_USE = "sign-in at a provider"
# Raised for a cookie whose fields are missing or different, as of another release.
_MALFORMED = (ValueError, TypeError, KeyError)
# Browsers keep a cookie of 4,096 bytes, and a request has several.
_MAX_BACK_LENGTH = 1_000

_log = structlog.get_logger(__name__)


class SignInFailed(Exception):
    """A sign-in that failed.

    `why`: `away` if the provider is down or rejects us; `lost` if this browser did not start the sign-in, or too long
    ago; `refused` by the provider; `nobody` if the person is unknown here; `not_fresh` if a new login was required.
    `back` is the page that the person wanted to see.
    """

    def __init__(
        self, why: Literal["away", "lost", "refused", "nobody", "not_fresh"], *, back: str | None = None
    ) -> None:
        super().__init__(why)
        self.why, self.back = why, back


@dataclass(frozen=True, slots=True)
class ProviderRedirect:
    """A redirect to a provider: its address, the state that comes back in the callback, and the text for the cookie."""

    address: str
    state: str
    sealed: str


@dataclass(frozen=True, slots=True)
class _PendingSignIn:
    """A pending sign-in: the provider, the page to return to, and the values that the callback is checked against."""

    by: str
    back: str | None
    begin: OidcBegin


def start(by: str, *, back: str | None, is_again: bool) -> ProviderRedirect | None:
    """Return the redirect to the provider `by`; None if there is no such provider.

    `back` is the page to return to, which is dropped if it is very long. `is_again` requires a new login at the
    provider. Raises SignInFailed.
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
    """Begin the session of a person who returns from a provider; return it with the page they wanted to see.

    `sealed` is the text of this browser's cookie, `params` the query of the callback. The session of the browser's
    `cookie` ends. Raises SignInFailed.
    """
    pending = _unseal(sealed) if sealed else None
    if pending is None or not hmac.compare_digest(pending.begin.state.encode(), params.get("state", "").encode()):
        _log.info("sign_in.refused", why="this browser did not start it, or it took too long")
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
        begun = provider_sessions.any_org_start(
            kind,
            identity,
            issuer=client.issuer,
            cookie=cookie,
            user_agent=sessions.user_agent() or "",
            now=clock.now(),
        )
        session = sessions.stage_audit(begun, by="provider") if begun is not None else None
    if session is None:
        _log.info("sign_in.refused", by=pending.by, why="the person has no role here: see org_id, role and claims")
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
    """Return a pending sign-in; None if it has expired or is invalid."""
    try:
        packed = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
        # Not through the cache of sealed secrets: it is opened only once.
        content = orjson.loads(sealing.unseal.__wrapped__(packed, belongs_to=_USE))
        begin = stored_values.read(OidcBegin, content["begin"])
        pending = _PendingSignIn(content["by"], content["back"], begin)
    except (binascii.Error, *_MALFORMED, sealing.CannotOpen):
        return None
    return pending if begin.at_s + LIFETIME.total_seconds() > clock.now().timestamp() else None
