"""The keys of an identity provider's published set (JWKS, RFC 7517) that may verify tokens, with their algorithms.

Three algorithms, one per key type, so that a token's header never chooses how a key is used. Symmetric and private keys
in a published set are ignored: everyone who reads it could sign with them.
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

_ALGORITHM_BY_TYPE: dict[tuple[object, object], tuple[str, type[RSAKey] | type[ECKey] | type[OKPKey]]] = {
    ("RSA", None): ("RS256", RSAKey),
    ("EC", "P-256"): ("ES256", ECKey),
    ("OKP", "Ed25519"): ("EdDSA", OKPKey),
}
_PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_MIN_RSA_BITS = 2048

_log = structlog.get_logger(__name__)


class Unreadable(Exception):
    """A key set that cannot be fetched or parsed."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that may verify tokens of one algorithm; `kid` is None if its issuer gave it no name."""

    alg: str
    kid: str | None
    key: Key


class Registry(JWSRegistry):
    """joserfc's rules for a header, with our algorithms and without its warning about EdDSA's newer name.

    Providers add header members of their own, so unknown ones are allowed; the verifier refuses `crit`.
    """

    max_header_length = MAX_TOKEN_CHARS

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """Return the algorithm. Raises UnsupportedAlgorithmError for any but ours."""
        if name not in ALGORITHMS:
            raise UnsupportedAlgorithmError
        return self.algorithms[name]


def parse_usable_keys(document: bytes) -> list[PublicKey]:
    """Return the keys of a JWKS that may verify tokens; others are skipped, suspicious ones with a warning.

    Raises Unreadable if the document is not a key set.
    """
    try:
        listed = orjson.loads(document)["keys"]
    except (ValueError, TypeError, KeyError) as error:
        raise Unreadable("it is not a JSON object with keys") from error
    if not isinstance(listed, list):
        raise Unreadable("its keys are not a list")
    keys = [_read(jwk) for jwk in listed if isinstance(jwk, dict)]
    return [key for key in keys if key is not None]


def _read(jwk: Mapping[str, Any]) -> PublicKey | None:
    kid, kty = jwk.get("kid"), jwk.get("kty")
    if kty == "oct" or _PRIVATE_MEMBERS & jwk.keys():
        _log.warning("jwks.secret_key_ignored", kid=kid, kty=kty)
        return None
    try:
        alg, kind = _ALGORITHM_BY_TYPE[kty, None if kty == "RSA" else jwk.get("crv")]
        if not _may_verify(jwk, alg):
            return None
        if kty == "RSA" and _bits(jwk["n"]) < _MIN_RSA_BITS:
            raise ValueError(f"an RSA key of fewer than {_MIN_RSA_BITS} bits")
        return PublicKey(alg, kid, kind.import_key(dict(jwk)))
    except KeyError:
        return None  # an unsupported type or curve
    except Exception as error:  # joserfc and cryptography raise many kinds of errors; the other keys still count
        _log.warning("jwks.damaged_key_ignored", kid=kid, kty=kty, why=str(error))
        return None


def _may_verify(jwk: Mapping[str, Any], alg: str) -> bool:
    operations = jwk.get("key_ops")
    return (
        jwk.get("use", "sig") == "sig"
        and jwk.get("alg", alg) == alg
        and (operations is None or (isinstance(operations, list) and "verify" in operations))
    )


def _bits(number: str) -> int:
    return int.from_bytes(util.urlsafe_b64decode(number.encode())).bit_length()
