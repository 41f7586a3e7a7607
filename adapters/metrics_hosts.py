"""The hosts at which metrics are served: pages of other domains that resolve to this server cannot read them."""

import ipaddress
from urllib.parse import urlsplit

import settings


def is_allowed(host: str) -> bool:
    """Return whether a Host header may read metrics: a loopback name, PUBLIC_BASE_URL's host or METRICS_HOSTS."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
    except ValueError:
        return False
    config = settings.current()
    if name in ("localhost", config.web.host) or name in config.monitoring.metrics_hosts:
        return bool(name)
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or any(_contains(network, address) for network in config.monitoring.metrics_hosts)


def _contains(network: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    try:
        return address in ipaddress.ip_network(network)
    except ValueError:  # a host name
        return False
