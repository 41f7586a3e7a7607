"""The URL parameters in which hosted checkouts carry the referring affiliate, which the gateway later reports back.

The script on the brands' pages does the same with the links of a page (api/templates/loader.js).
Source: tracking spec, "Attribution method taxonomy" (Checkout door and Link).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from domain import links
from domain.gateways.names import Gateway

_PARAMETERS: Mapping[str, str] = {
    Gateway.Stripe: "client_reference_id",
    Gateway.LemonSqueezy: "checkout[custom][via]",
    Gateway.ThriveCart: "passthrough[via]",
}
#: The parameters in which hosted checkouts accept the referring affiliate.
PARAMETERS = (*_PARAMETERS.values(), "attributes[via]")
_HOSTS: Mapping[str, Gateway] = {
    "buy.stripe.com": Gateway.Stripe,
    "lemonsqueezy.com": Gateway.LemonSqueezy,
    "thrivecart.com": Gateway.ThriveCart,
    "gumroad.com": Gateway.Gumroad,
    "gum.co": Gateway.Gumroad,
}
# A payment link silently drops a reference with other characters.
_STRIPE_REFERENCE = re.compile(r"[A-Za-z0-9_-]{1,200}")


def checkout_url(*, slug: str, destination_url: str, sub_id: str | None, gateways: Sequence[str]) -> str:
    """Return the URL of a checkout that carries a slug in every parameter that its gateway may report back.

    A gateway's own host says which gateway it is; any other may belong to any of the brand's `gateways`. Parameters of
    the destination stay, except its own `via`. `sub_id` is normalized (`domain.clicks.subid`).
    """
    address = links.landing_url(slug=slug, destination_url=destination_url, sub_id=sub_id)
    parts = urlsplit(address)
    present = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    names = _parameters_for(slug, _gateways_at(parts.hostname or "") or gateways)
    added = [f"{quote(name, safe='')}={slug}" for name in names if name not in present]
    return urlunsplit(parts._replace(query="&".join([parts.query, *added])))


def _gateways_at(host: str) -> list[str]:
    return [gateway for name, gateway in _HOSTS.items() if host == name or host.endswith(f".{name}")]


def _parameters_for(slug: str, gateways: Sequence[str]) -> Iterator[str]:
    for gateway in gateways:
        is_accepted = gateway != Gateway.Stripe or _STRIPE_REFERENCE.fullmatch(slug)
        if gateway in _PARAMETERS and is_accepted:
            yield _PARAMETERS[gateway]
