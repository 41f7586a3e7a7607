"""Who a token speaks for: people at the dashboard, affiliates at the portal, and programs at /mcp that a person let in.

Each kind has an identity provider. Without a configured issuer this service signs the tokens itself, with keys that
follow from SECRET_KEY: every process of an installation agrees on them and nothing is written to disk.
Source: core spec, "Callers" and section 5.
"""

import functools
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import orjson
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from joserfc import jws, jwt
from joserfc.jwk import OKPKey

import settings
from adapters import clock
from adapters.identity import key_sets, sources
from adapters.identity.key_sets import MAX_TOKEN_CHARS, PublicKey
from adapters.identity.sources import Source
from domain.organization.access import Role
from settings import secret_keys

LOCAL_ISSUER = "urn:finderfee:local"

#: What a person can let a program do for them.
READ_SCOPE = "finderfee.read"
WRITE_SCOPE = "finderfee.write"

_LEEWAY_S = 30
_MAX_SUBJECT_CHARS = 255
_MAX_EMAIL_CHARS = 320
_KELVIN = "\u212a"
_END_OF_TIME_S = 253_402_300_799  # the end of the year 9999, the last that a datetime holds

_KINDS = ("dashboard", "affiliate", "mcp")

_REGISTRY = key_sets.Registry()

_log = structlog.get_logger(__name__)


class NotLocal(Exception):
    """An issuer is configured, so this service issues no tokens; the message names the issuer."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a verified token says. `email` is trimmed and in lower case, "" when it is missing.

    `organization_id` and `role` are a dashboard token's. So is `session_id`: where it is there, the session came from
    an interactive login. `signed_in_at_s` is when that was: `auth_time`, else when the token was issued; None where it
    says neither.
    """

    subject: str
    email: str
    is_email_verified: bool
    expires_at_s: int
    organization_id: UUID | None
    role: str | None
    session_id: str | None
    signed_in_at_s: int | None = None


@dataclass(frozen=True, slots=True)
class ProgramClaims:
    """What the verified token of a program says: the person it speaks for, and the scopes that they gave it."""

    person: Claims
    scopes: frozenset[str]


class Verifier:
    """Accepts the tokens of one issuer for one audience; a token that also names one of `not_for` is nobody's."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        source: Source,
        *,
        not_for: frozenset[str] = frozenset(),
        now: Callable[[], float] = lambda: clock.now().timestamp(),
    ) -> None:
        self._issuer, self._audience, self._source = issuer, audience, source
        self._not_for, self._now = not_for, now

    def claims(self, token: str) -> Mapping[str, Any] | None:
        """Return the claims of a token that holds now, or None. Never raises."""
        try:
            return self._verified(token) if len(token) <= MAX_TOKEN_CHARS else None
        except Exception as error:  # a stranger's bytes may trip any of the parsers: not a token then
            _log.debug("token.refused", why=type(error).__name__)
            return None

    def _verified(self, token: str) -> Mapping[str, Any] | None:
        signed = jws.extract_compact(token.encode("ascii"), registry=_REGISTRY)
        header = signed.headers()
        _REGISTRY.check_header(header)
        alg, kid = _REGISTRY.get_alg(header["alg"]).name, header.get("kid")
        if "crit" in header or "b64" in header:
            return None
        fitting = [key for key in self._source.keys(kid) if key.alg == alg and kid in (None, key.kid)]
        if not any(jws.validate_compact(signed, key.key, registry=_REGISTRY) for key in fitting):
            return None
        claims = orjson.loads(signed.payload)
        self._check(claims)
        return claims

    def _check(self, claims: dict[str, Any]) -> None:
        """Raise for claims of another issuer, audience or time."""
        jwt.JWTClaimsRegistry(
            now=int(self._now()),
            leeway=_LEEWAY_S,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._audience},
            exp={"essential": True},
        ).validate(claims)
        if claims["exp"] > _END_OF_TIME_S:
            raise ValueError("exp")
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if not self._not_for.isdisjoint(audiences):
            raise ValueError("aud")


def dashboard(token: str) -> Claims | None:
    """Return who a dashboard token speaks for, or None when it is not valid, for any reason."""
    claims = _verifier("dashboard").claims(token)
    return None if claims is None else dashboard_person(claims)


def affiliate(token: str) -> Claims | None:
    """Return who an affiliate token speaks for, or None when it is not valid, for any reason."""
    claims = _verifier("affiliate").claims(token)
    return None if claims is None else person(claims)


def program(token: str) -> ProgramClaims | None:
    """Return what a program's token for /mcp says, or None when it is not valid, for any reason."""
    claims = _verifier("mcp").claims(token)
    found = None if claims is None else dashboard_person(claims)
    if claims is None or found is None:
        return None
    said = claims.get("scope")
    return ProgramClaims(found, frozenset(said.split(" ") if isinstance(said, str) else ()))


def dashboard_person(claims: Mapping[str, Any]) -> Claims | None:
    """Return whom verified claims speak for at a dashboard; None where organization or role are no such thing."""
    organization_id, role = _uuid(claims.get("org_id")), claims.get("role")
    if not _is_text(claims.get("sub")) or organization_id is None or role not in list(Role):
        return None
    session_id = claims.get("sid")
    return _person(claims, organization_id, role, session_id if _is_text(session_id) else None)


def person(claims: Mapping[str, Any]) -> Claims | None:
    """Return whom verified claims speak for; None where they name nobody."""
    return _person(claims, None, None, None) if _is_text(claims.get("sub")) else None


def id_token_claims(kind: str, token: str, *, client_id: str) -> Mapping[str, Any] | None:
    """Return the claims of an ID token of a kind's provider (dashboard or affiliate) for our client; None for others.

    What a sign-in adds to that (nonce, azp, auth_time) is not looked at.
    """
    return _id_verifier(kind, client_id).claims(token)


def issue_dashboard(
    *, organization_id: UUID, role: str, email: str, is_email_verified: bool, ttl_s: int, is_interactive: bool = True
) -> str:
    """Return a dashboard token of the local issuer. Raises NotLocal."""
    own = {"org_id": str(organization_id), "role": Role(role).value}
    session = {"sid": uuid4().hex} if is_interactive else {}
    return _issue("dashboard", email, is_email_verified, ttl_s, {**own, **session})


def issue_affiliate(*, email: str, is_email_verified: bool, ttl_s: int) -> str:
    """Return an affiliate token of the local issuer. Raises NotLocal."""
    return _issue("affiliate", email, is_email_verified, ttl_s, {})


def issue_program(*, organization_id: UUID, role: str, email: str, scopes: Sequence[str], ttl_s: int) -> str:
    """Return a program's token for /mcp of the local issuer. Raises NotLocal."""
    own = {"org_id": str(organization_id), "role": Role(role).value, "scope": " ".join(scopes)}
    return _issue("mcp", email, True, ttl_s, own)


def check_local(kind: str) -> None:
    """Raise NotLocal where an issuer is configured for this kind of tokens (dashboard, affiliate or mcp)."""
    issuer, _, _ = _configured(kind)
    if issuer is not None:
        raise NotLocal(f"The {kind} tokens of this installation come from {issuer}; ask there for one.")


def instant(value: object) -> int | None:
    """Return a claim that is a moment, in seconds since 1970 that a datetime holds; None for any other."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= _END_OF_TIME_S else None


def forget_cached() -> None:
    """Build everything anew from the settings at the next token."""
    _verifier.cache_clear()
    _id_verifier.cache_clear()
    _local_keys.cache_clear()


def _person(
    claims: Mapping[str, Any], organization_id: UUID | None, role: str | None, session_id: str | None
) -> Claims:
    email = _email(claims.get("email"))
    is_verified = email != "" and claims.get("email_verified") is True
    return Claims(
        subject=claims["sub"],
        email=email,
        is_email_verified=is_verified,
        expires_at_s=int(claims["exp"]),
        organization_id=organization_id,
        role=role,
        session_id=session_id,
        signed_in_at_s=instant(claims.get("auth_time")) or instant(claims.get("iat")),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_SUBJECT_CHARS and "\0" not in value


def _email(value: object) -> str:
    if not isinstance(value, str) or any(unicodedata.category(character) == "Cc" for character in value):
        return ""
    # In lower case the sign of the kelvin is a plain k, and one person's address would be another's.
    if _KELVIN in value:
        return ""
    email = value.strip().lower()
    return email if len(email) <= _MAX_EMAIL_CHARS else ""


def _uuid(value: object) -> UUID | None:
    try:
        found = UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and str(found) == str(value).lower() else None


def _configured(kind: str) -> tuple[str | None, str, str | None]:
    """Return issuer, audience and place of the keys."""
    chosen = settings.current().identity
    if kind == "dashboard":
        return chosen.dashboard_issuer, chosen.dashboard_audience, chosen.dashboard_jwks
    if kind == "affiliate":
        return chosen.affiliate_issuer, chosen.affiliate_audience, chosen.affiliate_jwks
    # The address itself, so that a token for another service is none for this one (RFC 8707).
    return chosen.mcp_issuer, chosen.mcp_audience or f"{settings.current().web.url}/mcp", chosen.mcp_jwks


@functools.cache
def _verifier(kind: str) -> Verifier:
    issuer, audience, place = _configured(kind)
    others = [_configured(other) for other in _KINDS if other != kind]
    not_for = frozenset(other_audience for other_issuer, other_audience, _ in others if other_issuer == issuer)
    if issuer is None or place is None:
        keys = [PublicKey("EdDSA", key.thumbprint(), OKPKey.import_key(key.public_key)) for key in _local_keys(kind)]
        return Verifier(LOCAL_ISSUER, audience, sources.Fixed(keys), not_for=not_for)
    return Verifier(issuer, audience, _source(place), not_for=not_for)


@functools.cache
def _id_verifier(kind: str, client_id: str) -> Verifier:
    issuer, _, place = _configured(kind)
    assert issuer is not None  # the settings hold that a client has an issuer, and an issuer keys
    assert place is not None
    return Verifier(issuer, client_id, _source(place))


def _source(place: str) -> Source:
    is_url = place.lower().startswith(("https://", "http://"))
    return sources.Published(place) if is_url else sources.File(Path(place))


@functools.cache
def _local_keys(kind: str) -> tuple[OKPKey, ...]:
    """Return the keys that tokens of our own are believed with; the first one signs."""
    return tuple(_local_key(kind, secret) for secret in secret_keys.accepted_keys(settings.current().servers))


def _local_key(kind: str, secret: str) -> OKPKey:
    seed = HKDF(SHA256(), 32, salt=None, info=f"finderfee/identity/{kind}".encode()).derive(secret.encode())
    return OKPKey.import_key(Ed25519PrivateKey.from_private_bytes(seed))


def _issue(kind: str, email: str, is_email_verified: bool, ttl_s: int, own: Mapping[str, str]) -> str:
    check_local(kind)
    _, audience, _ = _configured(kind)
    now, key, address = int(clock.now().timestamp()), _local_keys(kind)[0], email.strip().lower()
    claims = {
        "iss": LOCAL_ISSUER,
        "aud": audience,
        "sub": f"local:{address}",
        "iat": now,
        "exp": now + ttl_s,
        "email": address,
        "email_verified": is_email_verified,
        **own,
    }
    return jwt.encode({"alg": "EdDSA", "kid": key.thumbprint()}, claims, key, registry=_REGISTRY)
