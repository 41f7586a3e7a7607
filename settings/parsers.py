"""Parsers of the text of a variable, and the values that they return.

Each parser raises ValueError with the rest of a sentence that begins with the variable's name. If the text may contain
a secret, the sentence does not quote it.
"""

import ipaddress
import re
from collections.abc import Callable
from email.utils import getaddresses
from pathlib import Path
from urllib.parse import urlsplit

from domain import urls
from domain.mail import smtp_address

# A sender that every mail server accepts: ASCII only.
_SENDER = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+")


def text(raw: str) -> str:
    """Return the text as it is."""
    return raw


def path(raw: str) -> Path:
    """Return the absolute path of a file or folder."""
    return Path(raw).resolve()


def choice(*allowed: str) -> Callable[[str], str]:
    """Return a parser of one of these words."""

    def parse(raw: str) -> str:
        if raw not in allowed:
            raise ValueError(f"is {raw!r}; it must be one of: {', '.join(allowed)}")
        return raw

    return parse


def switch(raw: str) -> bool:
    """Return whether the text is `on`; it must be on or off."""
    return choice("on", "off")(raw) == "on"


def whole_number(minimum: int, maximum: int = 2**31) -> Callable[[str], int]:
    """Return a parser of a whole number between two bounds, both included."""

    def parse(raw: str) -> int:
        if not _is_number(raw) or not minimum <= int(raw) <= maximum:
            raise ValueError(f"is {raw!r}; it must be a whole number from {minimum} to {maximum}")
        return int(raw)

    return parse


def seconds_list(raw: str) -> tuple[int, ...]:
    """Return seconds in ascending order, from text with commas between them."""
    parts = [part.strip() for part in raw.split(",")]
    if not all(_is_number(part) for part in parts):
        raise ValueError(f"is {raw!r}; it must be seconds after the event, such as 0,60,120,240,480")
    times = tuple(int(part) for part in parts)
    if list(times) != sorted(times):
        raise ValueError(f"is {raw!r}; the times must ascend")
    return times


def rate(raw: str) -> float:
    """Return a number of requests per second; 0: without a limit."""
    if not re.fullmatch(r"\d{1,4}(\.\d{1,3})?", raw):
        raise ValueError(f"is {raw!r}; it must be a number such as 1.5, or 0 for no limit")
    return float(raw)


def word_list(raw: str) -> tuple[str, ...]:
    """Return words, from text with commas between them."""
    return tuple(part.strip() for part in raw.split(",") if part.strip())


def addresses(raw: str) -> tuple[tuple[str, int], ...]:
    """Return IP addresses with their ports, from text with commas between them."""
    parts = word_list(raw)
    if not all(_is_address_with_port(part) for part in parts):
        raise ValueError(f"is {raw!r}; it must be addresses with their ports, such as 127.0.0.1:8443")
    pairs = [part.rpartition(":") for part in parts]
    return tuple((str(ipaddress.ip_address(address.strip("[]"))), int(port)) for address, _, port in pairs)


def origins(raw: str) -> tuple[str, ...]:
    """Return browser origins, from text with commas between them."""
    parts = word_list(raw)
    if not all(re.fullmatch(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?", origin) for origin in parts):
        raise ValueError(f"is {raw!r}; an origin looks like https://app.example.com, in lower case")
    return parts


def hosts_or_networks(raw: str) -> tuple[str, ...]:
    """Return host names, addresses and networks, from text with commas between them."""
    parts = word_list(raw)
    if not all(re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", part) or _is_network(part) for part in parts):
        raise ValueError(f"is {raw!r}; it must be host names in lower case, addresses or networks, such as 10.0.0.0/8")
    return parts


def domain(raw: str) -> str:
    """Return a domain of two labels or more."""
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", raw):
        raise ValueError(f"is {raw!r}; it must be a domain in lower case, such as partners.example.com")
    return raw


def base_url(raw: str) -> str:
    """Return the base URL of the service without a slash at its end."""
    return raw.rstrip("/")


def http_url(raw: str) -> str:
    """Return the URL of a service. The message quotes nothing: a rejected URL may contain a password."""
    if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", raw, re.IGNORECASE):
        raise ValueError("cannot be used; it must be an https or http URL without user, query and fragment")
    return raw


def host_url(example: str) -> Callable[[str], str]:
    """Return a parser of a URL to which credentials may be sent: https with only a host, or http on this machine."""

    def parse(raw: str) -> str:
        if not _is_safe_host_url(raw):
            raise ValueError(f"cannot be used; it must be {example} or another https URL with only a host")
        return raw.rstrip("/")

    return parse


def api_url(example: str) -> Callable[[str], str]:
    """Return a parser of the base URL of an API to which credentials may be sent: https, or http on this machine."""

    def parse(raw: str) -> str:
        if not is_safe_url(raw) or "?" in raw:
            raise ValueError(f"cannot be used; it must be an https URL without user and query, such as {example}")
        return raw.rstrip("/")

    return parse


def name_server(raw: str) -> str:
    """Return `system`, `off`, or the address of one name server with its port."""
    if raw not in ("system", "off") and not _is_address_with_port(raw):
        raise ValueError(f"is {raw!r}; it must be system, off, or one server such as 192.0.2.53:53")
    return raw


def smtp_server(raw: str) -> smtp_address.Server:
    """Return the mail server of a URL, which may contain a password."""
    try:
        return smtp_address.parse(raw)
    except ValueError as error:
        raise ValueError(f"cannot be used: {error}. Write smtp://user:password@host:587") from None


def mail_sender(example: str) -> Callable[[str], str]:
    """Return a parser of one mail address, with or without a name in front."""

    def parse(raw: str) -> str:
        senders = [address for _, address in getaddresses([raw])]
        if len(senders) != 1 or not _SENDER.fullmatch(senders[0]) or not raw.isprintable():
            raise ValueError(f"is {raw!r}; it must be one sender, such as {example}")
        return raw

    return parse


def is_safe_url(url: str) -> bool:
    """Return whether credentials may be sent to a URL: https, or http on this machine, without user and fragment."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    is_plain = bool(host) and not parts.fragment and "@" not in parts.netloc
    return is_plain and (parts.scheme == "https" or (parts.scheme == "http" and urls.is_loopback(host or "")))


def _is_address_with_port(text: str) -> bool:
    address, _, port = text.rpartition(":")
    try:
        version = ipaddress.ip_address(address.removeprefix("[").removesuffix("]")).version
    except ValueError:
        return False
    is_bracketed = address.startswith("[") and address.endswith("]")
    return is_bracketed == (version == 6) and _is_number(port) and 0 < int(port) < 2**16


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def _is_number(raw: str) -> bool:
    return raw.isascii() and raw.isdigit()


def _is_safe_host_url(url: str) -> bool:
    if not is_safe_url(url):
        return False
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query
