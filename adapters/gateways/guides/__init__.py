"""How a brand makes the credentials of each gateway, with the permissions that the adapter needs.

guide       the parts of a guide
card        Stripe, Braintree, Mollie, PayPal
storefront  Shopify, BigCommerce, Wix, WooCommerce
billing     Paddle Billing, Chargebee, Recurly, Maxio Advanced Billing
digital     Gumroad, Lemon Squeezy, ThriveCart
"""

from adapters.gateways.guides import billing, card, digital, storefront
from adapters.gateways.guides.guide import Guide

_GUIDES = card.GUIDES | storefront.GUIDES | billing.GUIDES | digital.GUIDES


def get(gateway: str) -> Guide:
    """Return the guide of a gateway. Raises KeyError for a name that is not a gateway's."""
    return _GUIDES[gateway]
