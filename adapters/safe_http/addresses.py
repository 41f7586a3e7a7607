"""Decides which URLs and addresses this service may call for a customer.

Pure: no network, no clock. It parses a URL into a `VettedUrl` and checks resolved addresses;
`adapters.safe_http.client` resolves and connects.
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache

MAX_URL_LENGTH = 2048
HTTPS_PORT = 443
HTTP_PORT = 80

# Networks that the standard library calls global although they are not public: translation and tunnel prefixes that
# contain an IPv4 address, site-local, discard-only, documentation, segment routing.
_REFUSED_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "2001::/32",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "100::/64",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)

# Printable ASCII without the backslash, which some parsers read as a slash. Other scripts are punycode or %XX.
_CHARACTERS = re.compile(r"[!-\[\]-~]+")
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<userinfo>[^/?#]*@)?(?P<host>\[[^\[\]/?#@]*\]|[^\[\]:/?#@]*)"
    r"(?P<port>:[0-9]{0,5})?(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?"
)
_NAME = re.compile(r"(?:(?!-)[a-z0-9_-]{1,63}(?<!-)\.)*(?!-)[a-z0-9_-]{1,63}(?<!-)")
# The C library reads 2130706433, 0x7f.1, 0177.0.0.1 and 127.1 as addresses; no public name ends in such a label.
_NUMERIC_END = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")


class UrlRefused(Exception):
    """This URL may not be called. `code` is invalid_url, https_required or url_not_allowed; `message` may be shown."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class VettedUrl:
    """The parts of a checked URL: `host` for DNS and TLS, `authority` for the Host header, `path` with the query.

    `is_plain` is an http URL of this machine itself, called without TLS.
    """

    host: str
    port: int
    authority: str
    path: str
    is_plain: bool = False

    @property
    def is_name(self) -> bool:
        """Return whether the host must be resolved; no name ends in a number."""
        return not _is_literal(self.host)


@lru_cache(maxsize=4096)
def parse_url(url: str, *, ports: frozenset[int] | None, allow_plain: bool = False) -> VettedUrl:
    """Return the target of an https URL; the fragment is dropped. `ports` None allows any port.

    `allow_plain` allows http for `localhost` and literal loopback addresses. A literal address is returned as the host
    and must still be checked like a resolved one. Raises `UrlRefused`.
    """
    if len(url) > MAX_URL_LENGTH or not _CHARACTERS.fullmatch(url) or not (match := _URL.fullmatch(url)):
        raise UrlRefused("invalid_url", f"The URL must be absolute ASCII of at most {MAX_URL_LENGTH} characters.")
    is_plain = allow_plain and match["scheme"].lower() == "http"
    if not is_plain and match["scheme"].lower() != "https":
        raise _https_required()
    if match["userinfo"] is not None:
        raise UrlRefused("url_not_allowed", "The URL must not carry a user name or password.")
    host = _host(match["host"].lower())
    if is_plain and not (host == "localhost" or (_is_literal(host) and is_loopback(host))):
        raise _https_required()
    usual = HTTP_PORT if is_plain else HTTPS_PORT
    port = _port(match["port"], ports, usual)
    bracketed = f"[{host}]" if ":" in host else host
    authority = bracketed if port == usual else f"{bracketed}:{port}"
    path = (match["path"] or "/") + (match["query"] or "")
    return VettedUrl(host=host, port=port, authority=authority, path=path, is_plain=is_plain)


def is_public(address: str) -> bool:
    """Return whether this numeric address (an IPv6 one may have a %scope) is an ordinary public address.

    An IPv4-mapped IPv6 address counts as its IPv4 address. Raises ValueError for an invalid address.
    """
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if not ip.is_global or ip.is_multicast or ip.is_reserved:
        return False
    return not any(ip in network for network in _REFUSED_NETWORKS)


def is_loopback(address: str) -> bool:
    """Return whether this numeric address is a loopback address. Raises ValueError for an invalid one."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return ip.is_loopback


def _https_required() -> UrlRefused:
    return UrlRefused("https_required", "The URL must start with https://.")


def _is_literal(host: str) -> bool:
    return ":" in host or host.rpartition(".")[2].isdigit()


def _host(written: str) -> str:
    if written.startswith("["):
        return _ipv6(written[1:-1])
    if not _NAME.fullmatch(written) or len(written) > 253:
        raise UrlRefused("invalid_url", "The URL's host is not a valid name.")
    if _NUMERIC_END.fullmatch(written):
        return _ipv4(written)
    return written


def _ipv4(written: str) -> str:
    try:
        return str(ipaddress.IPv4Address(written))
    except ValueError:
        raise UrlRefused("url_not_allowed", "The URL's host must be a name, not a number.") from None


def _ipv6(written: str) -> str:
    if "%" in written:
        raise UrlRefused("url_not_allowed", "The URL's host must not name a network interface.")
    try:
        return str(ipaddress.IPv6Address(written))
    except ValueError:
        raise UrlRefused("invalid_url", "The URL's host is not a valid address.") from None


def _port(written: str | None, ports: frozenset[int] | None, usual: int) -> int:
    port = int(written[1:]) if written and written != ":" else usual
    if not 0 < port < 65536:
        raise UrlRefused("invalid_url", "The URL's port must be between 1 and 65535.")
    if ports is not None and port not in ports:
        allowed = ", ".join(str(number) for number in sorted(ports))
        raise UrlRefused("url_not_allowed", f"The URL's port must be one of: {allowed}.")
    return port
