"""Where a hosted checkout takes who referred the buyer: a parameter of its address that its gateway tells again.

The script of the brands' pages does the same with the links of a page (api/templates/loader.js).
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
#: The parameters in which hosted checkouts take who referred the buyer.
PARAMETERS = (*_PARAMETERS.values(), "attributes[via]")
_HOSTS: Mapping[str, Gateway] = {
    "buy.stripe.com": Gateway.Stripe,
    "lemonsqueezy.com": Gateway.LemonSqueezy,
    "thrivecart.com": Gateway.ThriveCart,
    "gumroad.com": Gateway.Gumroad,
    "gum.co": Gateway.Gumroad,
}
# A payment link drops a reference of other characters and says nothing.
_STRIPE_TAKES = re.compile(r"[A-Za-z0-9_-]{1,200}")


def checkout(*, slug: str, destination_url: str, sub_id: str | None, gateways: Sequence[str]) -> str:
    """Return the address of a checkout that carries a slug, in each way that its gateway may tell it again.

    A host of a gateway's own says which gateway it is; on any other it may be each of the brand's `gateways`. What the
    destination says itself stays, but for a `via` of its own. `sub_id` is normalized (`domain.clicks.subid`).
    """
    address = links.landing(slug=slug, destination_url=destination_url, sub_id=sub_id)
    parts = urlsplit(address)
    there = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    wanted = _wanted(slug, _gateways_at(parts.hostname or "") or gateways)
    added = [f"{quote(name, safe='')}={slug}" for name in wanted if name not in there]
    return urlunsplit(parts._replace(query="&".join([parts.query, *added])))


def _gateways_at(host: str) -> list[str]:
    return [gateway for name, gateway in _HOSTS.items() if host == name or host.endswith(f".{name}")]


def _wanted(slug: str, gateways: Sequence[str]) -> Iterator[str]:
    for gateway in gateways:
        is_taken = gateway != Gateway.Stripe or _STRIPE_TAKES.fullmatch(slug)
        if gateway in _PARAMETERS and is_taken:
            yield _PARAMETERS[gateway]
