"""Which keys of an identity provider's published set (JWKS, RFC 7517) may verify a token, and with which algorithm.

Three algorithms, one per key type, so that a token's header never chooses how a key is used. A symmetric or private
key has no place in a published set: its readers could sign with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from joserfc import util
from joserfc.errors import UnsupportedAlgorithmError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

ALGORITHMS = ("RS256", "ES256", "EdDSA")
MAX_TOKEN_CHARS = 8192

_FITTING: dict[tuple[object, object], tuple[str, type[RSAKey] | type[ECKey] | type[OKPKey]]] = {
    ("RSA", None): ("RS256", RSAKey),
    ("EC", "P-256"): ("ES256", ECKey),
    ("OKP", "Ed25519"): ("EdDSA", OKPKey),
}
_PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_SHORTEST_RSA_BITS = 2048

_log = structlog.get_logger(__name__)


class Unreadable(Exception):
    """A key set that cannot be had, or is not a key set."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that may verify tokens of one algorithm; `kid` is None when its issuer gave it no name."""

    alg: str
    kid: str | None
    key: Key


class Registry(JWSRegistry):
    """joserfc's rules for a header, with our algorithms and without its warning that EdDSA has a newer name.

    Providers add header members of their own, so unknown ones are let through; `crit` ones are refused by who reads.
    """

    max_header_length = MAX_TOKEN_CHARS

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """Return the algorithm, or raise for any but ours."""
        if name not in ALGORITHMS:
            raise UnsupportedAlgorithmError
        return self.algorithms[name]


def usable(document: bytes) -> list[PublicKey]:
    """Return the keys of a JWKS that may verify tokens; others are left out, suspicious ones with a warning.

    Raises Unreadable when the document is not a key set.
    """
    try:
        listed = orjson.loads(document)["keys"]
    except (ValueError, TypeError, KeyError) as error:
        raise Unreadable("it is not a JSON object with keys") from error
    if not isinstance(listed, list):
        raise Unreadable("its keys are not a list")
    read = [_read(jwk) for jwk in listed if isinstance(jwk, dict)]
    return [key for key in read if key is not None]


def _read(jwk: Mapping[str, Any]) -> PublicKey | None:
    kid, kty = jwk.get("kid"), jwk.get("kty")
    if kty == "oct" or _PRIVATE_MEMBERS & jwk.keys():
        _log.warning("jwks.secret_key_ignored", kid=kid, kty=kty)
        return None
    try:
        alg, kind = _FITTING[kty, None if kty == "RSA" else jwk.get("crv")]
        if not _is_for(jwk, alg):
            return None
        if kty == "RSA" and _bits(jwk["n"]) < _SHORTEST_RSA_BITS:
            raise ValueError(f"an RSA key of fewer than {_SHORTEST_RSA_BITS} bits")
        return PublicKey(alg, kid, kind.import_key(dict(jwk)))
    except KeyError:
        return None  # another type or curve: not for us
    except Exception as error:  # joserfc and cryptography raise of every kind for a damaged key; the others still count
        _log.warning("jwks.damaged_key_ignored", kid=kid, kty=kty, why=str(error))
        return None


def _is_for(jwk: Mapping[str, Any], alg: str) -> bool:
    operations = jwk.get("key_ops")
    return (
        jwk.get("use", "sig") == "sig"
        and jwk.get("alg", alg) == alg
        and (operations is None or (isinstance(operations, list) and "verify" in operations))
    )


def _bits(number: str) -> int:
    return int.from_bytes(util.urlsafe_b64decode(number.encode())).bit_length()
