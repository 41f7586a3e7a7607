"""Signing in at an identity provider: OpenID Connect, the code flow with PKCE (RFC 7636) and its `iss` (RFC 9207).

What a sign-in begins with (state, nonce, verifier) is the caller's to keep in the browser that began it. Nothing here
follows a redirect, and no answer is read beyond its limit.
"""

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote_plus, urlencode, urlsplit

import orjson

import settings
from adapters import http_calls
from adapters.identity import tokens
from settings.parsers import is_safe_url

ProviderKind = Literal["dashboard", "affiliate"]

_WHOLE_CALL_S = 8.0
_CONNECT_S = 3.0
_KEPT_S = 600
# Who waits for a provider that hangs holds a thread of ours, which sales need as well: few wait at once, and after a
# failure nobody asks for a moment.
_MOST_AT_ONCE = 3
_TURN_S = 1.0
_RETRY_S = 10
_LEEWAY_S = 30
# What a token endpoint says of us, or of itself, and not of who signs in (RFC 6749, sections 4.1.2.1 and 5.2).
_NOT_ABOUT_THEM = frozenset({"invalid_client", "unauthorized_client", "server_error", "temporarily_unavailable"})
_NEEDED = ("authorization_endpoint", "token_endpoint")


class OidcAway(Exception):
    """The provider cannot be asked now, or its answer cannot be read. The message holds no secret."""


class _TooMany(OidcAway):
    """As many wait for it as may; which says nothing of the provider."""


class OidcRefused(Exception):
    """What came back does not hold, or the provider says no. The message holds no secret."""


class OidcNotFresh(OidcRefused):
    """A new login was asked for, and the provider does not say that there was one."""


@dataclass(frozen=True, slots=True)
class OidcClient:
    """Who this service is at the provider of the dashboard or of the affiliates. `secret` "" is a public client."""

    kind: ProviderKind
    issuer: str
    client_id: str
    secret: str
    name: str


@dataclass(frozen=True, slots=True)
class OidcBegin:
    """What a sign-in begins with, and is held against when it comes back.

    It began `at_s`, in seconds since 1970; `is_fresh` asks for a login that is not older than that.
    """

    state: str
    nonce: str
    verifier: str
    is_fresh: bool
    at_s: int


@dataclass(frozen=True, slots=True)
class OidcTokens:
    """What a provider gave: the claims of a verified ID token, and a refresh token where it gives one."""

    claims: Mapping[str, Any]
    refresh_token: str | None


_found: dict[str, tuple[float, Mapping[str, Any]]] = {}
_silent: dict[str, tuple[float, str]] = {}  # by host: until when it is left alone, and why
_lock = threading.Lock()
_turns = threading.BoundedSemaphore(_MOST_AT_ONCE)


def client(kind: ProviderKind) -> OidcClient | None:
    """Return the client for people of a kind; None where no provider signs them in at the pages."""
    chosen = settings.current().identity
    if kind == "dashboard":
        issuer, client_id = chosen.dashboard_issuer, chosen.dashboard_client_id
        secret, name = chosen.dashboard_client_secret, chosen.dashboard_provider_name
    else:
        issuer, client_id = chosen.affiliate_issuer, chosen.affiliate_client_id
        secret, name = chosen.affiliate_client_secret, chosen.affiliate_provider_name
    if issuer is None or client_id is None:
        return None
    return OidcClient(kind, issuer, client_id, secret or "", name or urlsplit(issuer).hostname or issuer)


def begin(*, is_fresh: bool, at_s: int) -> OidcBegin:
    """Return what a new sign-in begins with."""
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    return OidcBegin(state, nonce, verifier, is_fresh, at_s)


def address(of: OidcClient, begun: OidcBegin, *, back: str) -> str:
    """Return where the browser goes, to come `back` to an address of ours. Raises OidcAway."""
    found = _discovered(of.issuer)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest()).rstrip(b"=").decode()
    supported = found.get("scopes_supported")
    offline = " offline_access" if isinstance(supported, list) and "offline_access" in supported else ""
    asked = {
        "response_type": "code",
        "client_id": of.client_id,
        "redirect_uri": back,
        "scope": f"openid email profile{offline}",
        "state": begun.state,
        "nonce": begun.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    } | ({"prompt": "login", "max_age": "0"} if begun.is_fresh else {})
    endpoint = str(found["authorization_endpoint"])
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"


def check_sender(of: OidcClient, iss: str | None) -> None:
    """Refuse an answer of another provider than the one that was asked (RFC 9207). Raises OidcRefused, OidcAway."""
    must_say = _discovered(of.issuer).get("authorization_response_iss_parameter_supported") is True
    if iss != of.issuer and (iss is not None or must_say):
        raise OidcRefused("the answer is another issuer's")


def check_said(error: str | None) -> None:
    """Refuse an answer with an error (RFC 6749, section 4.1.2.1). Raises OidcRefused, OidcAway."""
    if error in _NOT_ABOUT_THEM:
        raise OidcAway(f"it says {error}")
    if error is not None:
        raise OidcRefused(f"the provider says {error[:100]}")


def redeem(of: OidcClient, begun: OidcBegin, *, code: str, back: str) -> OidcTokens:
    """Return what a code is good for. Raises OidcRefused, OidcNotFresh, OidcAway."""
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": begun.verifier}
    given = _given(of, form)
    if given is None:
        raise OidcRefused("there is no ID token in the answer")
    if given.claims.get("nonce") != begun.nonce:
        raise OidcRefused("the ID token is another sign-in's")
    if begun.is_fresh:
        logged_in_at_s = login_of(given.claims)
        if logged_in_at_s is None:
            raise OidcNotFresh("it does not say when the login was: there is no auth_time")
        if logged_in_at_s < begun.at_s - _LEEWAY_S:
            raise OidcNotFresh("the login was before it was asked for")
    return given


def refreshed(of: OidcClient, refresh_token: str) -> OidcTokens | None:
    """Return what the provider says of a person now; None where it says nothing. Raises OidcRefused, OidcAway."""
    return _given(of, {"grant_type": "refresh_token", "refresh_token": refresh_token})


def forget_cached() -> None:
    """Ask the providers anew what they are: between tests."""
    with _lock:
        _found.clear()
        _silent.clear()


def _given(of: OidcClient, form: Mapping[str, str]) -> OidcTokens | None:
    """Return what the token endpoint gives for a form, its ID token verified; None where it gives no ID token."""
    said = _posted(of, form)
    token, refresh_token = said.get("id_token"), said.get("refresh_token")
    if not isinstance(token, str):
        return None
    claims = tokens.id_token_claims(of.kind, token, client_id=of.client_id)
    if claims is None:
        raise OidcRefused("the ID token does not hold")
    audiences, azp = claims["aud"], claims.get("azp")
    is_shared = isinstance(audiences, list) and len(audiences) > 1
    if azp != of.client_id and (azp is not None or is_shared):
        raise OidcRefused("the ID token is another client's")
    return OidcTokens(claims, refresh_token if isinstance(refresh_token, str) and refresh_token else None)


def login_of(claims: Mapping[str, Any]) -> int | None:
    """Return when the person of an ID token logged in, in seconds since 1970; None where it does not say."""
    return tokens.instant(claims.get("auth_time"))


def _discovered(issuer: str) -> Mapping[str, Any]:
    """Return what a provider says of itself, at most ten minutes old, or older while it is away. Raises OidcAway."""
    kept = _found.get(issuer)
    if kept is not None and kept[0] > time.monotonic():
        return kept[1]
    try:
        said = _discover(issuer)
    except OidcAway as error:
        if not isinstance(error, _TooMany):
            _leave_alone(issuer, str(error))
        if kept is None:
            raise
        return kept[1]
    with _lock:
        _found[issuer] = (time.monotonic() + _KEPT_S, said)
    return said


def _discover(issuer: str) -> Mapping[str, Any]:
    status, said = _asked("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration", {}, None)
    if status != 200:
        raise OidcAway(f"it answers {status} when asked what it is")
    if said.get("issuer") != issuer:
        raise OidcAway("what it says of itself is another issuer's")
    if not all(isinstance(said.get(name), str) and is_safe_url(said[name]) for name in _NEEDED):
        raise OidcAway("one of its endpoints is not https")
    return said


def _posted(of: OidcClient, form: Mapping[str, str]) -> Mapping[str, Any]:
    found = _discovered(of.issuer)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    methods = found.get("token_endpoint_auth_methods_supported")
    if not of.secret:
        form = {**form, "client_id": of.client_id}
    elif isinstance(methods, list) and "client_secret_basic" not in methods:
        form = {**form, "client_id": of.client_id, "client_secret": of.secret}
    else:  # RFC 6749, section 2.3.1: both are encoded as in a form before they are put together
        pair = f"{quote_plus(of.client_id)}:{quote_plus(of.secret)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    status, said = _asked("POST", str(found["token_endpoint"]), headers, urlencode(form).encode())
    if status == 200:
        return said
    error = str(said.get("error"))[:100]
    # All else is about us or about the provider, and ends nobody's session.
    if error == "invalid_grant" or (status == 400 and error not in _NOT_ABOUT_THEM):
        raise OidcRefused(f"its token endpoint answers {status}: {error}")
    raise OidcAway(f"its token endpoint answers {status}: {error}")


def _asked(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, Mapping[str, Any]]:
    """Return the status and the object of an answer, an empty one where a refusal says nothing that can be read."""
    sent = {"Accept": "application/json", **headers}
    until, why = _silent.get(urlsplit(url).netloc, (0.0, ""))
    if until > time.monotonic():
        raise OidcAway(why)
    if not _turns.acquire(timeout=_TURN_S):
        raise _TooMany("too many wait for it")
    try:
        status, _, read = http_calls.call(method, url, sent, body, timeout_s=_WHOLE_CALL_S, connect_s=_CONNECT_S)
    except http_calls.NoAnswer as error:
        _leave_alone(url, str(error))
        raise OidcAway(str(error)) from error
    finally:
        _turns.release()
    try:
        said = orjson.loads(read)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        if status == 200:
            raise OidcAway("it answers no object")
        said = {}
    return status, said


def _leave_alone(url: str, why: str) -> None:
    host, now = urlsplit(url).netloc, time.monotonic()
    with _lock:
        if _silent.get(host, (0.0, ""))[0] <= now:
            _silent[host] = (now + _RETRY_S, why)
