"""How the payout rails are reached, as the operator's settings say. Secrets do not show in an object's text."""

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Processor:
    """The payment processor's transfers; `webhook_secret` verifies what it tells us by itself."""

    url: str
    key: str = field(repr=False)
    webhook_secret: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Wallet:
    """The wallet service; `webhook_id` names the webhook whose events are ours."""

    url: str
    client_id: str
    secret: str = field(repr=False)
    webhook_id: str | None


@dataclass(frozen=True, slots=True)
class Global:
    """Outbound payments from `financial_account`."""

    url: str
    key: str = field(repr=False)
    financial_account: str
    webhook_secret: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rails:
    """The rails there are; None where one is not configured."""

    processor: Processor | None = None
    wallet: Wallet | None = None
    global_payouts: Global | None = None


def is_safe_url(url: str) -> bool:
    """Return whether credentials may go to a URL: https with a host and nothing else, or http on this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    is_bare = host and parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in parts.netloc)
    return bool(is_bare) and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host or "")))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
