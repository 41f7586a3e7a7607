"""Sign-in at an identity provider: OpenID Connect, the code flow with PKCE (RFC 7636) and its `iss` (RFC 9207).

The caller stores a sign-in's state, nonce and verifier in the browser that started it. Redirects are not followed, and
no response is read beyond its limit.
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
_CACHE_S = 600
# A request that waits for a hanging provider holds a thread that sales need as well: few may wait at once, and after a
# failure the provider is not called for some seconds.
_MAX_CONCURRENT = 3
_SLOT_WAIT_S = 1.0
_RETRY_S = 10
_LEEWAY_S = 30
# Error codes about our client or the provider, not about the user (RFC 6749, sections 4.1.2.1 and 5.2).
_PROVIDER_ERRORS = frozenset({"invalid_client", "unauthorized_client", "server_error", "temporarily_unavailable"})
_REQUIRED_ENDPOINTS = ("authorization_endpoint", "token_endpoint")


class OidcUnavailable(Exception):
    """The provider is unavailable, or its response is unreadable. The message has no secret."""


class _TooManyWaiting(OidcUnavailable):
    """Too many requests wait for the provider; it is not the provider's failure."""


class OidcRefused(Exception):
    """The response is invalid, or the provider refused. The message has no secret."""


class OidcNotFresh(OidcRefused):
    """A new login was requested, and the provider does not confirm one."""


@dataclass(frozen=True, slots=True)
class OidcClient:
    """This service's client at the provider of the dashboard or of the affiliates. `secret` "" is a public client."""

    kind: ProviderKind
    issuer: str
    client_id: str
    secret: str
    name: str


@dataclass(frozen=True, slots=True)
class OidcSignIn:
    """The values of a started sign-in, against which the response is checked.

    It started at `at_s`, in seconds since 1970; `is_fresh` requires a login that is not older.
    """

    state: str
    nonce: str
    verifier: str
    is_fresh: bool
    at_s: int


@dataclass(frozen=True, slots=True)
class OidcTokens:
    """The provider's tokens: the claims of a verified ID token, and a refresh token if there is one."""

    claims: Mapping[str, Any]
    refresh_token: str | None


_metadata_by_issuer: dict[str, tuple[float, Mapping[str, Any]]] = {}
_paused_hosts: dict[str, tuple[float, str]] = {}  # by host: not called until then, and the reason
_lock = threading.Lock()
_slots = threading.BoundedSemaphore(_MAX_CONCURRENT)


def find_client(kind: ProviderKind) -> OidcClient | None:
    """Return the client for a kind of users; None if no provider signs them in at the pages."""
    config = settings.current().identity
    if kind == "dashboard":
        issuer, client_id = config.dashboard_issuer, config.dashboard_client_id
        secret, name = config.dashboard_client_secret, config.dashboard_provider_name
    else:
        issuer, client_id = config.affiliate_issuer, config.affiliate_client_id
        secret, name = config.affiliate_client_secret, config.affiliate_provider_name
    if issuer is None or client_id is None:
        return None
    return OidcClient(kind, issuer, client_id, secret or "", name or urlsplit(issuer).hostname or issuer)


def start(*, is_fresh: bool, at_s: int) -> OidcSignIn:
    """Return the random values of a new sign-in."""
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    return OidcSignIn(state, nonce, verifier, is_fresh, at_s)


def authorization_url(client: OidcClient, sign_in: OidcSignIn, *, redirect_uri: str) -> str:
    """Return the provider's URL for the browser, which returns to `redirect_uri` afterwards. Raises OidcUnavailable."""
    metadata = _get_metadata(client.issuer)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(sign_in.verifier.encode()).digest()).rstrip(b"=").decode()
    supported = metadata.get("scopes_supported")
    offline = " offline_access" if isinstance(supported, list) and "offline_access" in supported else ""
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect_uri,
        "scope": f"openid email profile{offline}",
        "state": sign_in.state,
        "nonce": sign_in.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    } | ({"prompt": "login", "max_age": "0"} if sign_in.is_fresh else {})
    endpoint = str(metadata["authorization_endpoint"])
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"


def check_issuer(client: OidcClient, iss: str | None) -> None:
    """Check that the response is from the requested issuer (RFC 9207). Raises OidcRefused, OidcUnavailable."""
    must_say = _get_metadata(client.issuer).get("authorization_response_iss_parameter_supported") is True
    if iss != client.issuer and (iss is not None or must_say):
        raise OidcRefused("the response is from another issuer")


def check_error(error: str | None) -> None:
    """Raise OidcRefused or OidcUnavailable for a response with an error (RFC 6749, section 4.1.2.1)."""
    if error in _PROVIDER_ERRORS:
        raise OidcUnavailable(f"it says {error}")
    if error is not None:
        raise OidcRefused(f"the provider says {error[:100]}")


def redeem(client: OidcClient, sign_in: OidcSignIn, *, code: str, redirect_uri: str) -> OidcTokens:
    """Exchange a code for tokens. Raises OidcRefused, OidcNotFresh, OidcUnavailable."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": sign_in.verifier,
    }
    issued = _request_tokens(client, form)
    if issued is None:
        raise OidcRefused("there is no ID token in the response")
    if issued.claims.get("nonce") != sign_in.nonce:
        raise OidcRefused("the ID token is from another sign-in")
    if sign_in.is_fresh:
        logged_in_at_s = login_time(issued.claims)
        if logged_in_at_s is None:
            raise OidcNotFresh("it does not say when the login was: there is no auth_time")
        if logged_in_at_s < sign_in.at_s - _LEEWAY_S:
            raise OidcNotFresh("the login was before it was requested")
    return issued


def refresh(client: OidcClient, refresh_token: str) -> OidcTokens | None:
    """Return a user's current tokens; None without an ID token. Raises OidcRefused, OidcUnavailable."""
    return _request_tokens(client, {"grant_type": "refresh_token", "refresh_token": refresh_token})


def clear_caches() -> None:
    """Fetch the providers' metadata again; for tests."""
    with _lock:
        _metadata_by_issuer.clear()
        _paused_hosts.clear()


def _request_tokens(client: OidcClient, form: Mapping[str, str]) -> OidcTokens | None:
    """Return the token endpoint's tokens for a form, with a verified ID token; None without one."""
    response = _post_to_token_endpoint(client, form)
    token, refresh_token = response.get("id_token"), response.get("refresh_token")
    if not isinstance(token, str):
        return None
    claims = tokens.verify_id_token(client.kind, token, client_id=client.client_id)
    if claims is None:
        raise OidcRefused("the ID token is invalid")
    audiences, azp = claims["aud"], claims.get("azp")
    is_shared = isinstance(audiences, list) and len(audiences) > 1
    if azp != client.client_id and (azp is not None or is_shared):
        raise OidcRefused("the ID token is for another client")
    return OidcTokens(claims, refresh_token if isinstance(refresh_token, str) and refresh_token else None)


def login_time(claims: Mapping[str, Any]) -> int | None:
    """Return the login time of an ID token, in seconds since 1970; None if it has none."""
    return tokens.parse_time(claims.get("auth_time"))


def _get_metadata(issuer: str) -> Mapping[str, Any]:
    """Return a provider's metadata, at most ten minutes old, or older while it is down. Raises OidcUnavailable."""
    cached = _metadata_by_issuer.get(issuer)
    if cached is not None and cached[0] > time.monotonic():
        return cached[1]
    try:
        metadata = _fetch_metadata(issuer)
    except OidcUnavailable as error:
        if not isinstance(error, _TooManyWaiting):
            _pause(issuer, str(error))
        if cached is None:
            raise
        return cached[1]
    with _lock:
        _metadata_by_issuer[issuer] = (time.monotonic() + _CACHE_S, metadata)
    return metadata


def _fetch_metadata(issuer: str) -> Mapping[str, Any]:
    status, metadata = _request("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration", {}, None)
    if status != 200:
        raise OidcUnavailable(f"its metadata request responded {status}")
    if metadata.get("issuer") != issuer:
        raise OidcUnavailable("its metadata is from another issuer")
    if not all(isinstance(metadata.get(name), str) and is_safe_url(metadata[name]) for name in _REQUIRED_ENDPOINTS):
        raise OidcUnavailable("one of its endpoints is not https")
    return metadata


def _post_to_token_endpoint(client: OidcClient, form: Mapping[str, str]) -> Mapping[str, Any]:
    metadata = _get_metadata(client.issuer)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    methods = metadata.get("token_endpoint_auth_methods_supported")
    if not client.secret:
        form = {**form, "client_id": client.client_id}
    elif isinstance(methods, list) and "client_secret_basic" not in methods:
        form = {**form, "client_id": client.client_id, "client_secret": client.secret}
    else:  # RFC 6749, section 2.3.1: both are form-encoded before they are joined
        pair = f"{quote_plus(client.client_id)}:{quote_plus(client.secret)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    status, response = _request("POST", str(metadata["token_endpoint"]), headers, urlencode(form).encode())
    if status == 200:
        return response
    error = str(response.get("error"))[:100]
    # Other errors are about our client or the provider, and end no session.
    if error == "invalid_grant" or (status == 400 and error not in _PROVIDER_ERRORS):
        raise OidcRefused(f"its token endpoint responded {status}: {error}")
    raise OidcUnavailable(f"its token endpoint responded {status}: {error}")


def _request(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, Mapping[str, Any]]:
    """Return the status and the object of a response; an empty object for an unreadable refusal."""
    request_headers = {"Accept": "application/json", **headers}
    until, why = _paused_hosts.get(urlsplit(url).netloc, (0.0, ""))
    if until > time.monotonic():
        raise OidcUnavailable(why)
    if not _slots.acquire(timeout=_SLOT_WAIT_S):
        raise _TooManyWaiting("too many requests wait for it")
    try:
        status, _, body_received = http_calls.call(
            method, url, request_headers, body, timeout_s=_WHOLE_CALL_S, connect_s=_CONNECT_S
        )
    except http_calls.NoAnswer as error:
        _pause(url, str(error))
        raise OidcUnavailable(str(error)) from error
    finally:
        _slots.release()
    try:
        content = orjson.loads(body_received)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        if status == 200:
            raise OidcUnavailable("its response is not an object")
        content = {}
    return status, content


def _pause(url: str, why: str) -> None:
    host, now = urlsplit(url).netloc, time.monotonic()
    with _lock:
        if _paused_hosts.get(host, (0.0, ""))[0] <= now:
            _paused_hosts[host] = (now + _RETRY_S, why)
