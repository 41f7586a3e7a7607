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
from domain.text import stored_values
from models import db
from pipelines.organization import provider_sessions

#: For how long a sign-in may take.
TAKES = timedelta(minutes=10)

_USE = "sign-in at a provider"
# What a cookie without its fields, or with others in their place, raises.
_OF_ANOTHER_RELEASE = (ValueError, TypeError, KeyError)
# Browsers keep a cookie of 4,096 bytes, and a request has several.
_LONGEST_BACK = 1_000

_log = structlog.get_logger(__name__)


class NotSignedIn(Exception):
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
class ProviderTrip:
    """Where a browser goes to sign in; what it comes back with in the address, and the text that it keeps meanwhile."""

    address: str
    state: str
    kept: str


@dataclass(frozen=True, slots=True)
class _Leaving:
    """A sign-in on its way: by which provider, to which page of ours, and what it is held against."""

    by: str
    back: str | None
    begin: OidcBegin


def leave(by: str, *, back: str | None, is_again: bool) -> ProviderTrip | None:
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
        raise NotSignedIn("away", back=back) from error
    kept_back = back if back and len(back) <= _LONGEST_BACK else None
    return ProviderTrip(address, begin.state, _seal(_Leaving(by, kept_back, begin)))


def come_back(kept: str | None, told: Mapping[str, str], *, cookie: str | None) -> tuple[NewSession, str | None]:
    """Begin the session of who comes back from a provider; return it with the page of ours that they wanted to see.

    `kept` is the text that this browser left with, `told` what the provider had it say in the address. What the
    browser's `cookie` stood for ends. Raises NotSignedIn.
    """
    leaving = _unseal(kept) if kept else None
    if leaving is None or not hmac.compare_digest(leaving.begin.state.encode(), told.get("state", "").encode()):
        _log.info("sign_in.refused", why="this browser did not begin it, or too long ago")
        raise NotSignedIn("lost")
    try:
        return _begun(leaving, told, cookie=cookie), leaving.back
    except OidcAway as error:
        _log.warning("sign_in.provider_away", by=leaving.by, why=str(error))
        raise NotSignedIn("away", back=leaving.back) from error
    except OidcRefused as error:
        _log.info("sign_in.refused", by=leaving.by, why=str(error))
        why: Literal["not_fresh", "refused"] = "not_fresh" if isinstance(error, OidcNotFresh) else "refused"
        raise NotSignedIn(why, back=leaving.back) from error


def _begun(leaving: _Leaving, told: Mapping[str, str], *, cookie: str | None) -> NewSession:
    kind = sessions.PROVIDED[leaving.by]
    client = provider_sessions.client(kind)
    if client is None:
        raise OidcRefused("no provider signs these people in any more")
    oidc.check_sender(client, told.get("iss"))
    oidc.check_said(told.get("error"))
    if not told.get("code"):
        raise OidcRefused("there is no code in the answer")
    given = oidc.redeem(client, leaving.begin, code=told["code"], back=_callback())
    with db.any_org_work():
        begun = provider_sessions.any_org_start(
            kind,
            given,
            issuer=client.issuer,
            cookie=cookie,
            user_agent=sessions.user_agent() or "",
            now=clock.now(),
        )
        made = sessions.stage_record_of(begun, by="provider") if begun is not None else None
    if made is None:
        _log.info("sign_in.refused", by=leaving.by, why="the person opens nothing here: see org_id, role and claims")
        raise NotSignedIn("nobody", back=leaving.back)
    if cookie:
        persons.forget(cookie)
    return made


def _callback() -> str:
    return f"{settings.current().web.url}/sign-in/callback"


def _seal(leaving: _Leaving) -> str:
    text = orjson.dumps(asdict(leaving)).decode()
    return base64.urlsafe_b64encode(sealing.seal(text, belongs_to=_USE)).decode().rstrip("=")


def _unseal(kept: str) -> _Leaving | None:
    """Return a sign-in that is on its way; None for one that took too long, and for what is none of ours."""
    try:
        packed = base64.urlsafe_b64decode(kept + "=" * (-len(kept) % 4))
        # Not through the cache of sealed secrets: it is opened once.
        said = orjson.loads(sealing.unseal.__wrapped__(packed, belongs_to=_USE))
        begin = stored_values.read(OidcBegin, said["begin"])
        leaving = _Leaving(said["by"], said["back"], begin)
    except (binascii.Error, *_OF_ANOTHER_RELEASE, sealing.CannotOpen):
        return None
    return leaving if begin.at_s + TAKES.total_seconds() > clock.now().timestamp() else None
