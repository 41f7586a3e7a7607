"""Asks whether it was a person who filled in a form: a verification service, or tokens of our own for development.

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
from adapters import derived_keys
from adapters.http_calls import requests
from settings.concerns.human_check import LOCAL

#: For how long a token of our own is good.
LIFETIME_S = 600
#: How long a person takes at least to fill in a form.
FILLING_S = 2

_LONGEST_TOKEN = 4096
_LARGEST_ANSWER = 16 * 1024
_TIMEOUTS_S = (2, 4)  # to connect, and between two pieces of the answer
_WHOLE_ANSWER_S = 5
# What a service says when it is not the token that is wrong: nobody would get in until somebody mends it.
_NOT_THE_TOKEN = {"missing-input-secret", "invalid-input-secret", "bad-request", "internal-error"}

_log = structlog.get_logger(__name__)


class Away(Exception):
    """The verification service gave no usable answer, so nobody knows whether it was a person."""


class NotConfigured(Exception):
    """There is no verification service and tokens of our own are not accepted here."""


class SiteVerify:
    """A service at a URL."""

    def __init__(self, url: str, secret: str) -> None:
        self._url, self._secret = url, secret

    def verify(self, token: str, *, ip: str, about: str, now: datetime) -> bool:
        """Return whether a person got this token. `about` is its use: one use may be verified again. Raises Away."""
        if not token or len(token) > _LONGEST_TOKEN:
            return False
        try:
            said = orjson.loads(self._ask(token, ip, about))
        except (requests.RequestException, OSError, ValueError) as error:
            raise _away(f"the call failed: {type(error).__name__}") from error
        if not isinstance(said, dict) or not isinstance(said.get("success"), bool):
            raise _away("its answer does not say whether it was a success")
        wrong = said.get("error-codes") or []
        if isinstance(wrong, list) and _NOT_THE_TOKEN.intersection(code for code in wrong if isinstance(code, str)):
            raise _away(f"it refuses us: {', '.join(map(str, wrong))[:200]}")
        return bool(said["success"])

    def _ask(self, token: str, ip: str, about: str) -> bytes:
        # A token is good once; a service that knows this key takes it again for the same use, so a retry passes.
        again = str(uuid5(NAMESPACE_URL, f"{token}\n{about}"))
        form = {"secret": self._secret, "response": token, "remoteip": ip, "idempotency_key": again}
        deadline = time.monotonic() + _WHOLE_ANSWER_S
        with requests.Session() as session:
            session.trust_env = False
            headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
            sent = session.post(
                self._url, data=form, headers=headers, timeout=_TIMEOUTS_S, allow_redirects=False, stream=True
            )
            with sent as answer:
                if answer.status_code != 200:
                    raise _away(f"it answers {answer.status_code}")
                read = bytearray()
                while len(read) <= _LARGEST_ANSWER and (piece := answer.raw.read1(4096)):
                    read += piece
                    if time.monotonic() > deadline:
                        raise _away("it answers too slowly")
        if len(read) > _LARGEST_ANSWER:
            raise _away(f"its answer is longer than {_LARGEST_ANSWER} bytes")
        return bytes(read)


class Local:
    """Tokens that this service signs: they prove that somebody fetched one and took their time, and no more."""

    def __init__(self, key: bytes, *former: bytes) -> None:
        self._key, self._former = key, former

    def issue(self, *, now: datetime, ready_in_s: int = 0) -> str:
        """Return a token, good from `ready_in_s` seconds on until LIFETIME_S."""
        issued = int(now.timestamp())
        said = f"{issued + ready_in_s}.{issued + LIFETIME_S}.{secrets.token_hex(8)}"
        return f"{said}.{_signature(self._key, said)}"

    def verify(self, token: str, *, ip: str, about: str, now: datetime) -> bool:
        said, _, signature = token.rpartition(".")
        if len(token) > _LONGEST_TOKEN or not self._is_ours(said, signature):
            return False
        ready, expires, _ = said.split(".")
        return int(ready) <= now.timestamp() < int(expires)

    def _is_ours(self, said: str, signature: str) -> bool:
        sent = signature.encode("utf-8", "replace")
        return any(hmac.compare_digest(_signature(key, said).encode(), sent) for key in (self._key, *self._former))


def _signature(key: bytes, said: str) -> str:
    return hmac.new(key, said.encode("utf-8", "replace"), "sha256").hexdigest()


# What the scripts of services fetch from hosts beside their own, as the services' pages on content security say.
_BESIDE = {
    "js.hcaptcha.com": ("https://hcaptcha.com", "https://*.hcaptcha.com"),
    "hcaptcha.com": ("https://*.hcaptcha.com",),
    "www.google.com": ("https://www.gstatic.com", "https://recaptcha.google.com"),
    "www.recaptcha.net": ("https://www.gstatic.com",),
}


@dataclass(frozen=True, slots=True)
class Widget:
    """What a page embeds to have its visitor verified: the script of the service, and whose page it is."""

    script_url: str
    site_key: str

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the widget loads from: the script's own origin, and the others of a known service."""
        parts = urlsplit(self.script_url)
        return (f"{parts.scheme}://{parts.netloc}", *_BESIDE.get(parts.hostname or "", ()))


def verify(token: str, *, ip: str, about: str, now: datetime) -> bool:
    """Say whether a person got this token for `about`. Make no such call inside a transaction.

    Raises Away when the service gives no usable answer within seconds, NotConfigured without a service.
    """
    check = _check()
    if check is None:
        raise NotConfigured
    return check.verify(token, ip=ip, about=about, now=now)


def widget() -> Widget | None:
    """Return what a page has to embed; None without a service that has a widget."""
    chosen = settings.current()
    if chosen.human_check.site_key is None or chosen.human_check.script_url is None:
        return None
    return Widget(chosen.human_check.script_url, chosen.human_check.site_key)


def local() -> Local | None:
    """Return who issues tokens of our own; None where they are not accepted."""
    check = _check()
    return check if isinstance(check, Local) else None


def own() -> Local:
    """Return who issues tokens of our own, whatever service there is: for a form that has to work without scripts."""
    return Local(*derived_keys.believed("human"))


def forget_cached() -> None:
    """Read the settings again: between tests."""
    derived_keys.forget_cached()
    _check.cache_clear()


@functools.cache
def _check() -> SiteVerify | Local | None:
    chosen = settings.current()
    if chosen.human_check.url == LOCAL or (chosen.human_check.url is None and chosen.servers.database_url is None):
        return own()
    if chosen.human_check.url is None or chosen.human_check.secret is None:
        return None
    return SiteVerify(chosen.human_check.url, chosen.human_check.secret)


def _away(why: str) -> Away:
    _log.warning("human_check.away", why=why)
    return Away(why)
