"""Guarantees of every gateway adapter about its webhooks, lists and lookups, tested over HTTP."""

import dataclasses
import re
from datetime import timedelta

import pytest

from adapters.gateways.adapter import OneWebhookAdapter
from adapters.gateways.base import CredentialsRefused, GatewayUnreachable
from domain.gateways.facts import BuyerOrigin
from tests.support.gateways.deliveries import build_account
from tests.support.gateways.stage import Stage
from tests.support.gateways.stages import STAGES, all_gateways

_ADDRESS = "https://finderfee.example/api/gateways/x/token"


def _webhooks(stage: Stage) -> set[str]:
    """Return the paths or ids of the webhooks of a stage."""
    paths = {path for path in getattr(stage, "objects", {}) if re.search(r"webhook|endpoint|notification-", path)}
    return paths | set(getattr(stage, "hooks", {})) | set(getattr(stage, "subscriptions", {}))


@all_gateways
def test_subscribing_creates_webhooks_or_lists_setup_steps(stage):
    subscribed = stage.gateway.subscribe(build_account(stage), _ADDRESS)
    assert subscribed.made or subscribed.setup.steps
    stage.gateway.unsubscribe(dataclasses.replace(build_account(stage), made=subscribed.made))


@all_gateways
def test_unsubscribing_twice_succeeds(stage):
    webhooks_before = _webhooks(stage)
    own_account = dataclasses.replace(
        build_account(stage), made=stage.gateway.subscribe(build_account(stage), _ADDRESS).made
    )

    for _ in range(2):
        stage.gateway.unsubscribe(own_account)
        assert _webhooks(stage) <= webhooks_before or stage.gateway.name == "maxio"  # Maxio cannot delete a webhook


@all_gateways
def test_failed_subscription_leaves_no_webhook(stage):
    webhooks_before = _webhooks(stage)
    for _ in range(2):  # the second round already has an access token
        before_subscribing = len(stage.calls)
        own_account = dataclasses.replace(
            build_account(stage), made=stage.gateway.subscribe(build_account(stage), _ADDRESS).made
        )
        calls = len(stage.calls) - before_subscribing
        stage.gateway.unsubscribe(own_account)

    for call in range(calls):
        stage.faults.extend([*[""] * call, "fail"])
        with pytest.raises(GatewayUnreachable):
            stage.gateway.subscribe(build_account(stage), _ADDRESS)
        assert not stage.faults
        assert _webhooks(stage) <= webhooks_before or stage.gateway.name == "maxio"


@all_gateways
def test_key_without_webhook_permission_gives_setup_steps(stage):
    webhooks_before = _webhooks(stage)
    stage.faults.extend(["forbid"] * 9)
    try:
        subscribed = stage.gateway.subscribe(build_account(stage), _ADDRESS)
    except CredentialsRefused:
        return
    finally:
        stage.faults.clear()
    assert subscribed.setup.steps
    assert ("webhookUrl", _ADDRESS) in subscribed.setup.values
    assert _webhooks(stage) == webhooks_before


_OWN_SECRET = [
    name
    for name, stage in STAGES.items()
    if isinstance(stage.gateway, OneWebhookAdapter)
    and "webhookSecret" in [field.name for field in stage.gateway.fields if not field.required]
]


@pytest.mark.parametrize("stage", _OWN_SECRET, indirect=True)
def test_brand_supplied_webhook_secret_creates_no_webhook(stage):
    subscribed = stage.gateway.subscribe(build_account(stage, webhookSecret="secret-of-their-own"), _ADDRESS)

    assert (stage.calls, dict(subscribed.made)) == ([], {})
    assert subscribed.setup.steps
    assert ("webhookUrl", _ADDRESS) in subscribed.setup.values


@all_gateways
def test_origin_without_ids_is_returned_without_a_call(stage):
    origin = BuyerOrigin(email="ann@example.com")

    assert stage.gateway.look_closer(build_account(stage), origin) == origin
    assert stage.gateway.read_subscription(build_account(stage), origin) == origin
    assert stage.calls == []


@all_gateways
def test_listing_raises_for_rejected_credentials_and_unreachable_gateway(stage):
    for fault, error in (("refuse", CredentialsRefused), ("fail", GatewayUnreachable), ("busy", GatewayUnreachable)):
        stage.faults.extend([fault] * 9)
        with pytest.raises(error):
            list(stage.gateway.list_payments(build_account(stage), stage.now - timedelta(hours=1)))
        stage.faults.clear()
