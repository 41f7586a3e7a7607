"""Codes of the API never appear on pages: attribution methods, reasons of the fraud rules, states.

Source: the tracking spec's taxonomy of attribution methods; the pages' rule that people read words.
"""

import re

import pytest

from domain.fraud import rules
from domain.gateways.names import Gateway
from domain.payouts.plan import BlockReason
from domain.platforms.names import Platform
from pages import template_filters
from pages.brand.conversions import attribution_methods
from pages.brand.payouts import run_preview
from pages.brand.review import fraud_reasons
from tests.support import trees

_GATEWAY_METHOD = re.compile(rf"[\"'](?P<method>(?:{'|'.join(Gateway)})_[a-z_]+)[\"']")
_ENDS = re.compile(
    r"_(?:coupon(?:_code)?|custom_data|custom_field|metadata|referral|reference_id|url_param|request_id|landing_page"
    r"|web_pixel|customer_journey|(?:customer|subscription)_history)$"
)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (None, "Sent from your server"),
        ("metadata_or_customer", "Referral in the payment"),
        ("coupon", "Coupon code"),
        ("checkout_door", "Checkout link"),
        ("stripe_customer_history", "Customer's history (Stripe)"),
        ("shopify_coupon_code", "Coupon code (Shopify)"),
        ("historical_import:rewardful", "Imported from rewardful"),
        ("manual", "Added manually"),
        ("sub_affiliate_override", "Recruiter's share"),
    ],
)
def test_method_is_shown_in_words(method, words):
    assert attribution_methods.describe_method(method) == words


def test_every_method_of_a_gateway_has_words():
    methods = {
        match["method"]
        for path in trees.list_files("adapters/gateways", "domain", "pipelines")
        for match in _GATEWAY_METHOD.finditer(path.read_text())
        if _ENDS.search(match["method"])
    } | {f"{gateway}_customer_history" for gateway in Gateway}

    described = {method: attribution_methods.describe_method(method) for method in methods}

    assert len(methods) > len(Gateway)
    assert {method: words for method, words in described.items() if "_" in words or words[:1].islower()} == {}
    assert {words.partition(" (")[0] for words in described.values()} <= {
        "Coupon code",
        "Customer's history",
        "Link",
        "Referral in the payment",
    }


@pytest.mark.parametrize("platform", Platform)
def test_method_of_a_platform_names_it(platform):
    assert attribution_methods.describe_method(f"crm_lookup:{platform}") == f"{platform.name} signup"


def test_unknown_method_is_shown_with_spaces():
    assert attribution_methods.describe_method("new_kind_of_method") == "New kind of method"


def test_every_fraud_rule_has_words():
    codes = [rule.reason for rule in (*rules.CLICK_RULES, *rules.LEAD_RULES, *rules.PAGE_LEAD_RULES)]

    described = fraud_reasons.describe_reasons(codes)

    assert [code for code, words in zip(codes, described, strict=True) if words == code.replace("_", " ")] == []
    assert fraud_reasons.describe_reasons(["own_scorer"]) == ["own scorer"]


def test_every_reason_for_not_paying_has_words_and_a_remedy():
    assert set(run_preview.REASONS) == set(run_preview.REMEDIES) == set(BlockReason)


def test_states_are_shown_in_words():
    described = {state: template_filters.state_words(state) for state in template_filters.COLOURS}

    assert {state: words for state, words in described.items() if re.search(r"[a-z][A-Z]|_", words)} == {}
    assert (described["OnItsWay"], described["PastDue"], described["Minting"]) == ("On its way", "Past due", "Creating")
    assert template_filters.state_words("Self-referral") == "Self-referral"


@pytest.mark.parametrize(
    ("code", "words"),
    [("program.updated", "Program updated"), ("api_key.created", "API key created"), ("org.set", "Org set")],
)
def test_action_is_shown_in_words(code, words):
    assert template_filters.event_words(code) == words
