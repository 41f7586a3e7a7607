"""The gateways by name. An adapter is loaded when it is first needed."""

import importlib

from adapters.gateways.adapter import GatewayAdapter
from domain.gateways.names import Gateway

_FOLDERS = {
    "card": ("stripe", "braintree", "mollie", "paypal"),
    "storefront": ("shopify", "bigcommerce", "wix", "woocommerce"),
    "billing": ("paddle", "chargebee", "recurly", "maxio"),
    "digital": ("gumroad", "lemonsqueezy", "thrivecart"),
}
_PLACES = {name: f"adapters.gateways.{folder}.{name}" for folder, names in _FOLDERS.items() for name in names}


def find(name: str) -> GatewayAdapter | None:
    """Return a gateway's adapter, or None for a name that is not a gateway's."""
    if name not in _PLACES:
        return None
    adapter: GatewayAdapter = importlib.import_module(_PLACES[name]).GATEWAY
    return adapter


def get(name: str) -> GatewayAdapter:
    """Return the adapter of a gateway. Raises LookupError for a name that is not a gateway's."""
    adapter = find(name)
    if adapter is None:
        raise LookupError(f"there is no gateway {name}")
    return adapter


def all_of_them() -> list[GatewayAdapter]:
    """Return the adapters of all gateways, in the order in which they are shown."""
    return [get(name) for name in Gateway]
