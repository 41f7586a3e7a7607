"""The code rails by gateway. Each is imported when it is first used."""

import importlib

from adapters.coupons.base import CodeRail, ProcessorRail
from domain.gateways.names import Gateway

#: The gateway that has coupons (families of codes).
PROCESSOR = Gateway.Stripe
#: Stores: their own discount codes are preferred to the processor's.
STOREFRONTS = (Gateway.Shopify, Gateway.BigCommerce, Gateway.Wix, Gateway.WooCommerce)
_OTHERS = (
    Gateway.Paddle,
    Gateway.Chargebee,
    Gateway.Recurly,
    Gateway.Maxio,
    Gateway.LemonSqueezy,
    Gateway.Gumroad,
)
#: Gateways where the id of a code is its text. After a code that was never redeemed is deleted, another may get its id.
NAMED_BY_TEXT = (Gateway.Chargebee,)
#: All gateways with codes. If several are connected, the first in this order is used.
MINTABLE = (*STOREFRONTS, PROCESSOR, *_OTHERS)


def rail(gateway: str) -> CodeRail:
    """Return the rail of a gateway. Raises LookupError if it has no codes."""
    if gateway not in MINTABLE:
        raise LookupError(f"{gateway} has no discount codes")
    adapter: CodeRail = importlib.import_module(f"adapters.coupons.{gateway}").RAIL
    return adapter


def processor() -> ProcessorRail:
    """Return the rail of the processor."""
    adapter: ProcessorRail = importlib.import_module(f"adapters.coupons.{PROCESSOR.value}").RAIL
    return adapter
