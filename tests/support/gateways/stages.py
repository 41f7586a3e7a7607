"""The fake gateways by name."""

import pytest

from tests.support.gateways.billing.chargebee import ChargebeeStage
from tests.support.gateways.billing.maxio import MaxioStage
from tests.support.gateways.billing.paddle import PaddleStage
from tests.support.gateways.billing.recurly import RecurlyStage
from tests.support.gateways.card.braintree import BraintreeStage
from tests.support.gateways.card.mollie import MollieStage
from tests.support.gateways.card.paypal import PaypalStage
from tests.support.gateways.card.stripe import StripeStage
from tests.support.gateways.digital.gumroad import GumroadStage
from tests.support.gateways.digital.lemonsqueezy import LemonSqueezyStage
from tests.support.gateways.digital.thrivecart import ThriveCartStage
from tests.support.gateways.stage import Stage
from tests.support.gateways.storefront.bigcommerce import BigCommerceStage
from tests.support.gateways.storefront.shopify import ShopifyStage
from tests.support.gateways.storefront.wix import WixStage
from tests.support.gateways.storefront.woocommerce import WooCommerceStage

_STAGE_CLASSES: tuple[type[Stage], ...] = (
    StripeStage,
    BraintreeStage,
    MollieStage,
    PaypalStage,
    PaddleStage,
    ChargebeeStage,
    RecurlyStage,
    MaxioStage,
    GumroadStage,
    LemonSqueezyStage,
    ShopifyStage,
    ThriveCartStage,
    WooCommerceStage,
    BigCommerceStage,
    WixStage,
)
STAGES: dict[str, type[Stage]] = {stage.gateway.name: stage for stage in _STAGE_CLASSES}


def gateways_with(*acts: str) -> pytest.MarkDecorator:
    """Run a test with each fake gateway that supports these acts."""
    supporting = [name for name, stage in STAGES.items() if not stage.unsupported.keys() & set(acts)]
    return pytest.mark.parametrize("stage", supporting, indirect=True)


all_gateways = gateways_with()
