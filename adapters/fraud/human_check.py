"""Verifies that a person filled in a form: by a verification service, or by local tokens for development.

The service speaks the `siteverify` protocol: a form with the secret and the token in, `{"success": true}` out.
Source: core spec, "Click and lead fraud review" (human-verification token).
"""

import functools
import hmac
import secrets
import time
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import orjson
import structlog

import settings
from adapters.http_calls import requests
from adapters.secret_key import derived_keys
from settings.concerns.human_check import LOCAL

#: Lifetime of a local token.
LIFETIME_S = 600
#: The least time that a person takes to fill in a form.
MIN_FILLING_S = 2

_MAX_TOKEN_LENGTH = 4096
_MAX_RESPONSE_BYTES = 16 * 1024
_TIMEOUTS_S = (2, 4)  # to connect, and between two pieces of the answer
_MAX_RESPONSE_S = 5
# Error codes that are not about the token: every visitor is rejected until the operator fixes the cause.
_SERVICE_ERRORS = {"missing-input-secret", "invalid-input-secret", "bad-request", "internal-error"}

_log = structlog.get_logger(__name__)


class VerifierUnavailable(Exception):
    """The verification service gave no usable response, so it is unknown whether it was a person."""


class NotConfigured(Exception):
    """No verification service is configured and local tokens are not accepted."""


class SiteVerify:
    """The verification service at a URL."""

    def __init__(self, url: str, secret: str) -> None:
        self._url, self._secret = url, secret

    def verify(self, token: str, *, ip: str, about: str, now: datetime) -> bool:
        """Return whether a person got this token.

        `about` names the use of the token; it may be verified again for the same use. Raises VerifierUnavailable.
        """
        if not token or len(token) > _MAX_TOKEN_LENGTH:
            return False
        try:
            response = orjson.loads(self._request(token, ip, about))
        except (requests.RequestException, OSError, ValueError) as error:
            raise _unavailable(f"the call failed: {type(error).__name__}") from error
        if not isinstance(response, dict) or not isinstance(response.get("success"), bool):
            raise _unavailable("its response does not say whether it was a success")
        errors = response.get("error-codes") or []
        if isinstance(errors, list) and _SERVICE_ERRORS.intersection(code for code in errors if isinstance(code, str)):
            raise _unavailable(f"it refuses our calls: {', '.join(map(str, errors))[:200]}")
        return bool(response["success"])

    def _request(self, token: str, ip: str, about: str) -> bytes:
        # A token is valid once; with this key a service accepts it again for the same use, so that a retry succeeds.
        idempotency_key = str(uuid5(NAMESPACE_URL, f"{token}\n{about}"))
        form = {"secret": self._secret, "response": token, "remoteip": ip, "idempotency_key": idempotency_key}
        deadline = time.monotonic() + _MAX_RESPONSE_S
        with requests.Session() as session:
            session.trust_env = False
            headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
            pending = session.post(
                self._url, data=form, headers=headers, timeout=_TIMEOUTS_S, allow_redirects=False, stream=True
            )
            with pending as answer:
                if answer.status_code != 200:
                    raise _unavailable(f"it responded {answer.status_code}")
                content = bytearray()
                while len(content) <= _MAX_RESPONSE_BYTES and (piece := answer.raw.read1(4096)):
                    content += piece
                    if time.monotonic() > deadline:
                        raise _unavailable("it responds too slowly")
        if len(content) > _MAX_RESPONSE_BYTES:
            raise _unavailable(f"its response is longer than {_MAX_RESPONSE_BYTES} bytes")
        return bytes(content)


class LocalTokens:
    """Tokens that this service signs: they only prove that one was fetched and that some time passed."""

    def __init__(self, key: bytes, *former: bytes) -> None:
        self._key, self._former = key, former

    def issue(self, *, now: datetime, ready_in_s: int = 0) -> str:
        """Return a token that is valid after `ready_in_s` seconds and until LIFETIME_S."""
        issued = int(now.timestamp())
        payload = f"{issued + ready_in_s}.{issued + LIFETIME_S}.{secrets.token_hex(8)}"
        return f"{payload}.{_signature(self._key, payload)}"

    def verify(self, token: str, *, ip: str, about: str, now: datetime) -> bool:
        payload, _, signature = token.rpartition(".")
        if len(token) > _MAX_TOKEN_LENGTH or not self._is_signed(payload, signature):
            return False
        ready, expires, _ = payload.split(".")
        return int(ready) <= now.timestamp() < int(expires)

    def _is_signed(self, payload: str, signature: str) -> bool:
        received = signature.encode("utf-8", "replace")
        expected = (_signature(key, payload).encode() for key in (self._key, *self._former))
        return any(hmac.compare_digest(signed, received) for signed in expected)


def _signature(key: bytes, payload: str) -> str:
    return hmac.new(key, payload.encode("utf-8", "replace"), "sha256").hexdigest()


# Other origins that the services' scripts use, according to the services' documentation of content security.
_OTHER_ORIGINS = {
    "js.hcaptcha.com": ("https://hcaptcha.com", "https://*.hcaptcha.com"),
    "hcaptcha.com": ("https://*.hcaptcha.com",),
    "www.google.com": ("https://www.gstatic.com", "https://recaptcha.google.com"),
    "www.recaptcha.net": ("https://www.gstatic.com",),
}


@dataclass(frozen=True, slots=True)
class Widget:
    """The widget that a page embeds: the script of the service and the site key."""

    script_url: str
    site_key: str

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the origins the widget loads from: the script's own, and others of a known service."""
        parts = urlsplit(self.script_url)
        return (f"{parts.scheme}://{parts.netloc}", *_OTHER_ORIGINS.get(parts.hostname or "", ()))


def verify(token: str, *, ip: str, about: str, now: datetime) -> bool:
    """Return whether a person got this token for `about`. Do not call inside a transaction.

    Raises VerifierUnavailable if the service gives no usable response within seconds, NotConfigured without a service.
    """
    check = _create_check()
    if check is None:
        raise NotConfigured
    return check.verify(token, ip=ip, about=about, now=now)


def find_widget() -> Widget | None:
    """Return the widget to embed; None without a service that has one."""
    config = settings.current()
    if config.human_check.site_key is None or config.human_check.script_url is None:
        return None
    return Widget(config.human_check.script_url, config.human_check.site_key)


def find_local_issuer() -> LocalTokens | None:
    """Return the issuer of local tokens; None if they are not accepted."""
    check = _create_check()
    return check if isinstance(check, LocalTokens) else None


def local_issuer() -> LocalTokens:
    """Return the issuer of local tokens even with a service: for a form that must work without scripts."""
    return LocalTokens(*derived_keys.accepted_keys("human"))


def clear_caches() -> None:
    """Read the settings again; for tests."""
    derived_keys.clear_caches()
    _create_check.cache_clear()


@functools.cache
def _create_check() -> SiteVerify | LocalTokens | None:
    config = settings.current()
    if config.human_check.url == LOCAL or (config.human_check.url is None and config.servers.database_url is None):
        return local_issuer()
    if config.human_check.url is None or config.human_check.secret is None:
        return None
    return SiteVerify(config.human_check.url, config.human_check.secret)


def _unavailable(why: str) -> VerifierUnavailable:
    _log.warning("human_check.away", why=why)
    return VerifierUnavailable(why)
