"""The attribution methods of each gateway adapter are exactly those of the taxonomy.

Source: tracking spec, "Attribution method taxonomy".
"""

import ast
import re
from pathlib import Path

import pytest

from domain.gateways.names import Gateway

_ROOT = Path(__file__).parents[3] / "adapters/gateways"
_METHODS = {
    "stripe": {"metadata_or_customer", "stripe_reference_id", "coupon"},
    "braintree": {"braintree_custom_field", "braintree_reference_id"},
    "mollie": {"mollie_metadata"},
    "shopify": {"shopify_web_pixel", "shopify_landing_page", "shopify_customer_journey", "shopify_coupon_code"},
    "bigcommerce": {"bigcommerce_metadata", "bigcommerce_custom_field", "bigcommerce_coupon_code"},
    "wix": {"wix_custom_field", "wix_metadata", "wix_coupon_code"},
    "woocommerce": {"woocommerce_metadata", "woocommerce_url_param", "woocommerce_coupon_code"},
    "paddle": {"paddle_custom_data", "paddle_coupon_code"},
    "chargebee": {"chargebee_metadata", "chargebee_custom_field", "chargebee_coupon_code"},
    "recurly": {"recurly_custom_field", "recurly_coupon_code"},
    "maxio": {"maxio_metadata", "maxio_reference_id", "maxio_coupon_code"},
    "gumroad": {"gumroad_url_param", "gumroad_custom_field", "gumroad_coupon_code"},
    "lemonsqueezy": {"lemonsqueezy_custom_data", "lemonsqueezy_coupon_code"},
    "thrivecart": {"thrivecart_url_param", "thrivecart_custom_field", "thrivecart_coupon_code"},
    "paypal": {"paypal_custom_field"},
}
# Gateway fields that look like a method, and words that are a method only at Stripe.
_OTHER_WORDS = {"paypal": {"paypal_reference_id"}}
_STRIPE_METHODS = {"metadata_or_customer", "coupon"}
_FORM = re.compile(
    r"[a-z]+_(custom_data|custom_field|metadata|referral|reference_id|url_param|request_id|coupon_code|coupon)"
    r"|shopify_(web_pixel|landing_page|customer_journey)"
)


@pytest.mark.parametrize("name", Gateway)
def test_gateway_has_exactly_the_methods_of_the_taxonomy(name):
    texts = {
        node.value
        for path in [*_ROOT.glob(f"*/{name}.py"), *_ROOT.glob(f"*/{name}_*.py")]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    methods = {text for text in texts if text.startswith(f"{name}_") and _FORM.fullmatch(text)}
    if name == Gateway.Stripe:
        methods |= texts & _STRIPE_METHODS
    assert methods - _OTHER_WORDS.get(name, set()) == _METHODS[name]
