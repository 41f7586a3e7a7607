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
from adapters import clock
from adapters.identity import oidc
from adapters.identity.oidc import OidcNotFresh, OidcRefused, OidcSignIn, OidcUnavailable
from adapters.secret_key import sealing
from api import sessions
from api.access import persons
from api.sessions import NewSession
from domain.text import stored_values
from models import db
from pipelines.organization import provider_sessions
from pipelines.organization.provider_sessions import EmailNotVerified

#: How long a sign-in may take.
LIFETIME = timedelta(minutes=10)

_USE = "sign-in at a provider"
# Raised for a cookie whose fields are missing or different, as of another release.
_MALFORMED = (ValueError, TypeError, KeyError)

_log = structlog.get_logger(__name__)


class SignInFailed(Exception):
    """A sign-in that failed.

    `why`: `away` if the provider is down or rejects us; `lost` if this browser did not start the sign-in, or started
    it too long ago; `refused` by the provider; `nobody` if the user has no role here; `unverified` if the team list
    decides and the provider has not verified the user's email; `not_fresh` if the provider did not confirm the new
    login that was required. `return_to` is the page that the user had requested.
    """

    def __init__(
        self,
        why: Literal["away", "lost", "refused", "nobody", "unverified", "not_fresh"],
        *,
        return_to: str | None = None,
    ) -> None:
        super().__init__(why)
        self.why, self.return_to = why, return_to


@dataclass(frozen=True, slots=True)
class ProviderRedirect:
    """A redirect to a provider: its address, the state that the callback returns, and the sealed cookie text."""

    address: str
    state: str
    sealed: str


@dataclass(frozen=True, slots=True)
class _PendingSignIn:
    """A pending sign-in: the provider, the page to return to, and the values that the callback is checked against."""

    provider: str
    return_to: str | None
    sign_in: OidcSignIn


def start(provider: str, *, return_to: str | None, needs_new_login: bool) -> ProviderRedirect | None:
    """Return the redirect to a provider; None if there is no such provider.

    `return_to` is the page to open after the sign-in; it is ignored if it is very long. `needs_new_login` requires
    a new login at the provider. Raises SignInFailed.
    """
    kind = sessions.PROVIDED.get(provider, "")
    client = provider_sessions.client(kind) if kind else None
    if client is None:
        return None
    sign_in = oidc.start(is_fresh=needs_new_login, at_s=int(clock.now().timestamp()))
    try:
        address = oidc.authorization_url(client, sign_in, redirect_uri=_callback())
    except OidcUnavailable as error:
        _log.warning("sign_in.provider_away", issuer=client.issuer, why=str(error))
        raise SignInFailed("away", return_to=return_to) from error
    return ProviderRedirect(address, sign_in.state, _seal(_PendingSignIn(provider, return_to, sign_in)))


def finish(sealed: str | None, params: Mapping[str, str], *, cookie: str | None) -> tuple[NewSession, str | None]:
    """Start the session of a user who returns from a provider; return it with the page that they had requested.

    `sealed` is the text of this browser's cookie, `params` the query of the callback. The session of the browser's
    `cookie` ends. Raises SignInFailed.
    """
    pending = _unseal(sealed) if sealed else None
    if pending is None or not hmac.compare_digest(pending.sign_in.state.encode(), params.get("state", "").encode()):
        _log.info("sign_in.refused", why="this browser did not start it, or it took too long")
        raise SignInFailed("lost")
    try:
        return _start_session(pending, params, cookie=cookie), pending.return_to
    except OidcUnavailable as error:
        _log.warning("sign_in.provider_away", by=pending.provider, why=str(error))
        raise SignInFailed("away", return_to=pending.return_to) from error
    except OidcRefused as error:
        _log.info("sign_in.refused", by=pending.provider, why=str(error))
        why: Literal["not_fresh", "refused"] = "not_fresh" if isinstance(error, OidcNotFresh) else "refused"
        raise SignInFailed(why, return_to=pending.return_to) from error
    except EmailNotVerified as error:
        _log.info("sign_in.refused", by=pending.provider, why="the email is not verified, and the team list decides")
        raise SignInFailed("unverified", return_to=pending.return_to) from error


def _start_session(pending: _PendingSignIn, params: Mapping[str, str], *, cookie: str | None) -> NewSession:
    kind = sessions.PROVIDED[pending.provider]
    client = provider_sessions.client(kind)
    if client is None:
        raise OidcRefused("this provider is no longer configured")
    oidc.check_issuer(client, params.get("iss"))
    oidc.check_error(params.get("error"))
    if not params.get("code"):
        raise OidcRefused("the callback has no code")
    identity = oidc.redeem(client, pending.sign_in, code=params["code"], redirect_uri=_callback())
    with db.any_org_work():
        started = provider_sessions.any_org_start(
            kind,
            identity,
            issuer=client.issuer,
            cookie=cookie,
            user_agent=sessions.user_agent() or "",
            now=clock.now(),
        )
        session = sessions.stage_audit(started, by="provider") if started is not None else None
    if session is None:
        why = "the person has no role here: see org_id, role and claims"
        _log.info("sign_in.refused", by=pending.provider, why=why)
        raise SignInFailed("nobody", return_to=pending.return_to)
    if cookie:
        persons.forget(cookie)
    return session


def _callback() -> str:
    return f"{settings.current().web.url}/sign-in/callback"


def _seal(pending: _PendingSignIn) -> str:
    content = {"by": pending.provider, "back": pending.return_to, "begin": asdict(pending.sign_in)}
    text = orjson.dumps(content).decode()
    return base64.urlsafe_b64encode(sealing.seal(text, belongs_to=_USE)).decode().rstrip("=")


def _unseal(sealed: str) -> _PendingSignIn | None:
    """Return a pending sign-in; None if it has expired or is invalid."""
    try:
        packed = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
        # Not through the cache of sealed secrets: it is opened only once.
        content = orjson.loads(sealing.unseal.__wrapped__(packed, belongs_to=_USE))
        sign_in = stored_values.read(OidcSignIn, content["begin"])
        pending = _PendingSignIn(content["by"], content["back"], sign_in)
    except (binascii.Error, *_MALFORMED, sealing.CannotUnseal):
        return None
    return pending if sign_in.at_s + LIFETIME.total_seconds() > clock.now().timestamp() else None
