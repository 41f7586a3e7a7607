"""The hosts at which the service answers, for proxies that request a certificate at the first visit."""

import settings
from domain.organization import host_names
from domain.refusals import Refused
from models.host_proofs import holders


def any_org_check(name: str) -> str:
    """Return a host that the service answers at, in lower case without a dot at its end.

    These are its own hosts, brands' portals (their own hosts, and subdomains of PORTAL_DOMAIN that a brand has), and
    verified domains. Raises Refused 404 not_found. Budget: 1 statement.
    """
    host = name.lower().removesuffix(".") if name.isascii() else ""
    if host_names.is_host_name(host) and (_is_own(host) or _is_of_brand(host)):
        return host
    raise Refused(404, "not_found", "This host is not served here.")


def _is_own(host: str) -> bool:
    web = settings.current().web
    return host in (web.host, web.brands_target)


def _is_of_brand(host: str) -> bool:
    domain = settings.current().web.portal_domain
    handle = host.removesuffix(f".{domain}") if domain and host.endswith(f".{domain}") else None
    return holders.any_org_is_served(host=host, handle=handle)
