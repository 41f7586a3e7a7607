"""Opens the bodies of wix: each is one signed token (RS256), with JSON as text within JSON."""

import functools
import re
from typing import Any

from joserfc import jws
from joserfc.jwk import RSAKey
from joserfc.jws import JWSRegistry

from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, Inbound, NotProved
from adapters.gateways.wire import parse_json

_TOKEN = re.compile(rb"\s*([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)\s*")
_ALGORITHM = "RS256"
_LEEWAY_S = 60


class _Registry(JWSRegistry):
    """One algorithm, whichever a token's header names, and room for an order of many lines."""

    max_header_length = 4096
    max_payload_length = 1024 * 1024

    def __init__(self) -> None:
        super().__init__(algorithms=[_ALGORITHM], strict_check_header=False)


_REGISTRY = _Registry()


def key(typed: str) -> RSAKey:
    """Return the app's public key of its PEM, also where its lines were pasted with \\n. Raises ValueError."""
    return _key(typed.strip().replace("\\n", "\n"))


def claims(account: GatewayAccount, request: Inbound) -> tuple[Any, bytes]:
    """Return the claims of a token that one of the account's keys signed, and their bytes. Raises NotProved.

    A payload that is no JSON has no claims; a token that is over has none either.
    """
    match = _TOKEN.fullmatch(request.body)
    if match is None:
        raise NotProved
    payload = next((read for pem in account.secrets("publicKey") if (read := _verify(match[1], pem))), None)
    if payload is None:
        raise NotProved
    try:
        content = parse_json(payload)
    except ValueError:
        return None, payload
    until = shapes.get(content, "exp")
    if type(until) is not int or until + _LEEWAY_S < request.received_at.timestamp():
        raise NotProved
    return content, payload


def parse_text(value: Any) -> Any:
    """Return the JSON of a text; any other value is returned as it is. Raises ValueError."""
    return parse_json(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else value


def _verify(token: bytes, pem: str) -> bytes | None:
    """Return the payload of a token when this key signed it."""
    try:
        return jws.deserialize_compact(token, key(pem), algorithms=[_ALGORITHM], registry=_REGISTRY).payload
    except Exception:  # joserfc and cryptography raise errors of every kind for foreign tokens and for a damaged key
        return None


@functools.lru_cache(maxsize=1024)
def _key(pem: str) -> RSAKey:
    try:
        read = RSAKey.import_key(pem)
    except Exception as error:  # of every kind, for a damaged key
        raise ValueError("the public key is not a PEM") from error
    if read.is_private:
        raise ValueError("this is a private key; the public one is asked for")
    return read
