"""A web process caches the connection of an address for seconds; changes made meanwhile apply all the same."""

import pytest

from pipelines.gateways import receive
from tests.support.gateways.card import stripe
from tests.support.gateways.stage import Purchase
from tests.support.settings_overrides import override_settings


@pytest.fixture(autouse=True)
def _cache_for_a_minute(stage, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})


def _pay(shop):
    return shop.stage.pay(Purchase()).notifications[0]


def test_signatures_of_new_and_former_credentials_are_accepted_at_once(shop):
    assert shop.deliver(_pay(shop)) == [200]
    path = f"/api/v1/connections/{shop.connection['id']}"
    response = shop.brand.person("Owner").call("PATCH", path, {"credentials": {"webhookSecret": "whsec_new"}})
    assert response.status_code == 200
    newly_signed = stripe.sign(_pay(shop).body, secret="whsec_new")

    assert shop.deliver(newly_signed, _pay(shop)) == [200, 200]
    assert shop.deliver(shop.stage.forge_signature(_pay(shop))) == [401]
    assert len(shop.events()) == 3


def test_removed_connection_returns_404_at_once_in_the_same_process(shop):
    assert shop.deliver(_pay(shop)) == [200]
    response = shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    assert response.status_code == 204
    assert shop.deliver(_pay(shop)) == [404]


def test_removed_connection_returns_404_in_other_processes_after_the_cache(shop):
    assert shop.deliver(_pay(shop)) == [200]
    shop.change("update gateway_connection set status = 'Disconnected', disconnected_at = now()")
    receive.clear_cache()  # as after KEY_CACHE_S
    assert shop.deliver(_pay(shop)) == [404]


def test_unknown_address_is_not_cached(shop):
    shop.change("update gateway_connection set status = 'Disconnected'")
    assert shop.deliver(_pay(shop)) == [404]
    shop.change("update gateway_connection set status = 'Active'")
    assert shop.deliver(_pay(shop)) == [200]
