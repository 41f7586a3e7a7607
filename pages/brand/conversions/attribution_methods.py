"""The source of a conversion in words: its attribution method, which the API gives as a code."""

from collections.abc import Mapping

from domain.gateways.names import Gateway
from domain.platforms.names import Platform

_SERVER = "Sent from your server"
_METHODS: Mapping[str, str] = {
    "checkout_door": "Checkout link",
    "coupon": "Coupon code",
    "coupon_with_metadata": "Coupon code and referral in the payment",
    "cpc_aggregation": "Clicks",
    "email_lead_match": "Customer's email",
    "historical_import": "Import",
    "lead_form": "Lead form",
    "lead_signup": "Signup",
    "manual": "Added manually",
    "manual_app": "Assigned in the payment provider",
    "metadata_or_customer": "Referral in the payment",
    "restore": "Restored from a backup",
    "self_referral": "Self-referral",
    "sub_affiliate_override": "Recruiter's share",
}
# By the end of a method that begins with the name of a gateway.
_GATEWAY_METHODS: Mapping[str, str] = {
    "coupon": "Coupon code",
    "coupon_code": "Coupon code",
    "custom_data": "Referral in the payment",
    "custom_field": "Referral in the payment",
    "customer_history": "Customer's history",
    "customer_journey": "Link",
    "landing_page": "Link",
    "metadata": "Referral in the payment",
    "reference_id": "Referral in the payment",
    "referral": "Referral in the payment",
    "request_id": "Referral in the payment",
    "subscription_history": "Customer's history",
    "url_param": "Link",
    "web_pixel": "Link",
}
_GATEWAYS = {gateway.value: gateway.name for gateway in Gateway}
_PLATFORMS = {platform.value: platform.name for platform in Platform}


def describe_method(method: str | None) -> str:
    """Return an attribution method in words, with the gateway or platform where it names one."""
    if method is None:
        return _SERVER
    name, _, source = method.partition(":")
    if name == "historical_import" and source:
        return f"Imported from {source}"
    if name == "crm_lookup":
        return f"{_PLATFORMS.get(source, source)} signup"
    gateway, _, end = name.partition("_")
    if name not in _METHODS and gateway in _GATEWAYS:
        return f"{_GATEWAY_METHODS.get(end, _in_words(end))} ({_GATEWAYS[gateway]})"
    return _METHODS.get(name) or _in_words(name)


def _in_words(code: str) -> str:
    return code.replace("_", " ").capitalize()
