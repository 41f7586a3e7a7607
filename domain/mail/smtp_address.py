"""Parses the URL of an SMTP server: smtp://user:password@host:587 or smtps://host:465."""

from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from domain import urls

_PORTS = {"smtp": 587, "smtps": 465}


class Security(StrEnum):
    """How the connection is encrypted: from its first byte, by STARTTLS before anything else, or not."""

    Tls = "tls"
    StartTls = "starttls"
    Plain = "plain"


@dataclass(frozen=True, slots=True)
class Server:
    """An SMTP server and its credentials."""

    host: str
    port: int
    security: Security
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def parse(url: str) -> Server:
    """Return the server that `url` names. Raises ValueError with the fault, never quoting the URL.

    smtps is TLS from the start. smtp is STARTTLS, which the server must offer; on a loopback host it is plain.
    `?starttls=on` and `?starttls=off` override that.
    """
    parts = _split(url)
    if parts.scheme not in _PORTS:
        raise ValueError("it must begin with smtp:// or smtps://")
    if not parts.hostname:
        raise ValueError("it has no host")
    if parts.path not in ("", "/") or parts.fragment:
        raise ValueError("only ?starttls=on or ?starttls=off may follow the host and port")
    return Server(
        host=parts.hostname,
        port=_port(parts),
        security=_security(parts.scheme, parts.hostname, parts.query),
        user=_decode_credential(parts.username, other=parts.password),
        password=_decode_credential(parts.password, other=parts.username),
    )


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # its message quotes the password
        raise ValueError("it is not a URL; percent-encode special characters in user and password") from None


def _port(parts: SplitResult) -> int:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError("its port must be a number from 1 to 65535; percent-encode special characters in the password")
    return port or _PORTS[parts.scheme]


def _security(scheme: str, host: str, query: str) -> Security:
    try:
        options = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        options = [("", "")]
    if options not in ([], [("starttls", "on")], [("starttls", "off")]) or (options and scheme == "smtps"):
        raise ValueError("only ?starttls=on or ?starttls=off may follow, and only after smtp://")
    if scheme == "smtps":
        return Security.Tls
    is_plain = options == [("starttls", "off")] if options else urls.is_loopback(host)
    return Security.Plain if is_plain else Security.StartTls


def _decode_credential(raw: str | None, *, other: str | None) -> str | None:
    if bool(raw) != bool(other):
        raise ValueError("it needs both a user and a password, or neither")
    return unquote(raw) if raw else None
