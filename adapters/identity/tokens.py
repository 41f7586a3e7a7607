"""Verifies and issues tokens: of members at the dashboard, affiliates at the portal, and programs at /mcp.

Each kind has an identity provider. Without a configured issuer this service signs the tokens itself, with keys derived
from SECRET_KEY: all processes of an installation have the same keys and nothing is written to disk.
Source: core spec, "Callers" and section 5.
"""

import dataclasses
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
from adapters.identity.sources import KeySource
from domain.organization.access import Role
from settings import secret_keys

LOCAL_ISSUER = "urn:finderfee:local"

#: The scopes that a member can grant to a program.
READ_SCOPE = "finderfee.read"
WRITE_SCOPE = "finderfee.write"

_LEEWAY_S = 30
_MAX_SUBJECT_CHARS = 255
_MAX_EMAIL_CHARS = 320
_KELVIN = "\u212a"
_END_OF_TIME_S = 253_402_300_799  # the end of the year 9999, the last that datetime supports

_KINDS = ("dashboard", "affiliate", "mcp")

_REGISTRY = key_sets.Registry()

_log = structlog.get_logger(__name__)


class NotLocal(Exception):
    """An issuer is configured, so this service issues no tokens; the message names the issuer."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a verified token. `email` is trimmed and in lower case, "" if it is missing.

    Only dashboard tokens have `organization_id`, `role` and `session_id`; the latter means that the session came from
    an interactive login. `signed_in_at_s` is the login time: `auth_time`, else the time of issue; None without both.
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
    """The claims of a program's verified token: the member it acts for, and the scopes that they granted."""

    person: Claims
    scopes: frozenset[str]


class Verifier:
    """Accepts the tokens of one issuer for one audience; a token that also names one of `not_for` is invalid."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        source: KeySource,
        *,
        not_for: frozenset[str] = frozenset(),
        now: Callable[[], float] = lambda: clock.now().timestamp(),
    ) -> None:
        self._issuer, self._audience, self._source = issuer, audience, source
        self._not_for, self._now = not_for, now

    def claims(self, token: str) -> Mapping[str, Any] | None:
        """Return the claims of a valid token, or None. Never raises."""
        try:
            return self._verify(token) if len(token) <= MAX_TOKEN_CHARS else None
        except Exception as error:  # untrusted bytes may raise anything in the parsers: not a token then
            _log.debug("token.refused", why=type(error).__name__)
            return None

    def _verify(self, token: str) -> Mapping[str, Any] | None:
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
        """Raise for claims of another issuer or audience, or expired ones."""
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


def verify_dashboard(token: str) -> Claims | None:
    """Return the claims of a dashboard token; None if it is invalid for any reason."""
    claims = _verifier("dashboard").claims(token)
    return None if claims is None else parse_dashboard_claims(claims)


def verify_person(token: str) -> Claims | None:
    """Return the claims of a dashboard token whose role the team list sets; it may name an organization (`org_id`)."""
    claims = _verifier("dashboard").claims(token)
    person = None if claims is None else parse_claims(claims)
    if claims is None or person is None:
        return None
    session_id = claims.get("sid")
    return dataclasses.replace(
        person,
        organization_id=_parse_uuid(claims.get("org_id")),
        session_id=session_id if _is_text(session_id) else None,
    )


def verify_affiliate(token: str) -> Claims | None:
    """Return the claims of an affiliate token; None if it is invalid for any reason."""
    claims = _verifier("affiliate").claims(token)
    return None if claims is None else parse_claims(claims)


def verify_program(token: str) -> ProgramClaims | None:
    """Return the claims of a program's token for /mcp; None if it is invalid for any reason."""
    claims = _verifier("mcp").claims(token)
    member = None if claims is None else parse_dashboard_claims(claims)
    if claims is None or member is None:
        return None
    scope = claims.get("scope")
    return ProgramClaims(member, frozenset(scope.split(" ") if isinstance(scope, str) else ()))


def parse_dashboard_claims(claims: Mapping[str, Any]) -> Claims | None:
    """Return verified claims as a dashboard member's; None if organization or role are invalid."""
    organization_id, role = _parse_uuid(claims.get("org_id")), claims.get("role")
    if not _is_text(claims.get("sub")) or organization_id is None or role not in list(Role):
        return None
    session_id = claims.get("sid")
    return _build_claims(claims, organization_id, role, session_id if _is_text(session_id) else None)


def parse_claims(claims: Mapping[str, Any]) -> Claims | None:
    """Return verified claims as a user's; None without a subject."""
    return _build_claims(claims, None, None, None) if _is_text(claims.get("sub")) else None


def verify_id_token(kind: str, token: str, *, client_id: str) -> Mapping[str, Any] | None:
    """Return the claims of an ID token of a kind's provider (dashboard or affiliate) for our client; None for others.

    The claims of a sign-in (nonce, azp, auth_time) are not checked.
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
    """Raise NotLocal if an issuer is configured for this kind of tokens (dashboard, affiliate or mcp)."""
    issuer, _, _ = _provider_settings(kind)
    if issuer is not None:
        raise NotLocal(f"The {kind} tokens of this installation are issued by {issuer}. Next: request one there.")


def parse_time(value: object) -> int | None:
    """Return a claim that is a time, in seconds since 1970 within datetime's range; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= _END_OF_TIME_S else None


def clear_caches() -> None:
    """Read the settings again at the next token; for tests."""
    _verifier.cache_clear()
    _id_verifier.cache_clear()
    _local_keys.cache_clear()


def _build_claims(
    claims: Mapping[str, Any], organization_id: UUID | None, role: str | None, session_id: str | None
) -> Claims:
    email = _normalize_email(claims.get("email"))
    is_verified = email != "" and _is_email_verified(claims)
    return Claims(
        subject=claims["sub"],
        email=email,
        is_email_verified=is_verified,
        expires_at_s=int(claims["exp"]),
        organization_id=organization_id,
        role=role,
        session_id=session_id,
        signed_in_at_s=parse_time(claims.get("auth_time")) or parse_time(claims.get("iat")),
    )


def _is_email_verified(claims: Mapping[str, Any]) -> bool:
    """Return whether a token says that its email is verified; Entra says it by a claim of its own, `xms_edov`."""
    if "email_verified" in claims:
        return claims["email_verified"] is True
    return claims.get("xms_edov") in (True, "1", "true")  # 1 is equal to True


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_SUBJECT_CHARS and "\0" not in value


def _normalize_email(value: object) -> str:
    if not isinstance(value, str) or any(unicodedata.category(character) == "Cc" for character in value):
        return ""
    # The kelvin sign is a plain k in lower case, so that one user's address would equal another's.
    if _KELVIN in value:
        return ""
    email = value.strip().lower()
    return email if len(email) <= _MAX_EMAIL_CHARS else ""


def _parse_uuid(value: object) -> UUID | None:
    try:
        parsed = UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return parsed if parsed is not None and str(parsed) == str(value).lower() else None


def _provider_settings(kind: str) -> tuple[str | None, str, str | None]:
    """Return issuer, audience and location of the keys."""
    config = settings.current().identity
    if kind == "dashboard":
        return config.dashboard_issuer, config.dashboard_audience, config.dashboard_jwks
    if kind == "affiliate":
        return config.affiliate_issuer, config.affiliate_audience, config.affiliate_jwks
    # The URL itself, so that a token for another service is invalid for this one (RFC 8707).
    return config.mcp_issuer, config.mcp_audience or f"{settings.current().web.url}/mcp", config.mcp_jwks


@functools.cache
def _verifier(kind: str) -> Verifier:
    issuer, audience, keys_location = _provider_settings(kind)
    others = [_provider_settings(other) for other in _KINDS if other != kind]
    not_for = frozenset(other_audience for other_issuer, other_audience, _ in others if other_issuer == issuer)
    if issuer is None or keys_location is None:
        keys = [PublicKey("EdDSA", key.thumbprint(), OKPKey.import_key(key.public_key)) for key in _local_keys(kind)]
        return Verifier(LOCAL_ISSUER, audience, sources.FixedKeys(keys), not_for=not_for)
    return Verifier(issuer, audience, _source(keys_location), not_for=not_for)


@functools.cache
def _id_verifier(kind: str, client_id: str) -> Verifier:
    issuer, _, keys_location = _provider_settings(kind)
    assert issuer is not None  # the settings require an issuer for a client, and keys for an issuer
    assert keys_location is not None
    return Verifier(issuer, client_id, _source(keys_location))


def _source(keys_location: str) -> KeySource:
    is_url = keys_location.lower().startswith(("https://", "http://"))
    return sources.PublishedKeys(keys_location) if is_url else sources.KeyFile(Path(keys_location))


@functools.cache
def _local_keys(kind: str) -> tuple[OKPKey, ...]:
    """Return the keys that verify local tokens; the first one signs."""
    return tuple(_local_key(kind, secret) for secret in secret_keys.accepted_keys(settings.current().servers))


def _local_key(kind: str, secret: str) -> OKPKey:
    seed = HKDF(SHA256(), 32, salt=None, info=f"finderfee/identity/{kind}".encode()).derive(secret.encode())
    return OKPKey.import_key(Ed25519PrivateKey.from_private_bytes(seed))


def _issue(kind: str, email: str, is_email_verified: bool, ttl_s: int, own: Mapping[str, str]) -> str:
    check_local(kind)
    _, audience, _ = _provider_settings(kind)
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
