"""The native connections: systems of a brand that report its sales and leads by themselves.

While one is connected, signed sales and leads are refused, so that nothing is counted twice.
"""

from enum import StrEnum


class Gateway(StrEnum):
    """A native connection, as `organization.gateways` and the code `{gateway}_connect_active` name it."""

    Stripe = "stripe"
    Braintree = "braintree"
    Mollie = "mollie"
    Shopify = "shopify"
    BigCommerce = "bigcommerce"
    Wix = "wix"
    WooCommerce = "woocommerce"
    Paddle = "paddle"
    Chargebee = "chargebee"
    Recurly = "recurly"
    Maxio = "maxio"
    Gumroad = "gumroad"
    LemonSqueezy = "lemonsqueezy"
    ThriveCart = "thrivecart"
    PayPal = "paypal"
