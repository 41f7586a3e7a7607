"""The code rails by gateway. Each is imported when it is first needed."""

import importlib

from adapters.coupons.base import CodeRail, ProcessorRail
from domain.gateways.names import Gateway

#: Where families of codes are made.
PROCESSOR = Gateway.Stripe
#: Stores, whose own discount codes go before the processor's.
STOREFRONTS = (Gateway.Shopify, Gateway.BigCommerce, Gateway.Wix, Gateway.WooCommerce)
_OTHERS = (
    Gateway.Paddle,
    Gateway.Chargebee,
    Gateway.Recurly,
    Gateway.Maxio,
    Gateway.LemonSqueezy,
    Gateway.Gumroad,
)
#: Where the id of a code is its text: once a code is deleted that was never redeemed, another code may have its id.
NAMED_BY_TEXT = (Gateway.Chargebee,)
#: All of them, in the order in which one is chosen where several are connected.
MINTABLE = (*STOREFRONTS, PROCESSOR, *_OTHERS)


def rail(gateway: str) -> CodeRail:
    """Return the rail of a gateway that mints. Raises LookupError for another."""
    if gateway not in MINTABLE:
        raise LookupError(f"{gateway} mints no codes")
    adapter: CodeRail = importlib.import_module(f"adapters.coupons.{gateway}").RAIL
    return adapter


def processor() -> ProcessorRail:
    """Return the rail of the processor."""
    adapter: ProcessorRail = importlib.import_module(f"adapters.coupons.{PROCESSOR.value}").RAIL
    return adapter
