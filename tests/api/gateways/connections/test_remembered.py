"""A web process remembers whose an address is for seconds; what is changed meanwhile counts all the same."""

import pytest

from pipelines.gateways import receive
from tests.support.gateways.card import stripe
from tests.support.gateways.stage import Purchase
from tests.support.settings_overrides import override_settings


@pytest.fixture(autouse=True)
def _remembering(stage, monkeypatch):
    override_settings(monkeypatch, web={"key_cache_s": 60})


def _paid(shop):
    return shop.stage.pay(Purchase()).notifications[0]


def test_a_proof_by_new_credentials_holds_at_once_and_one_by_the_former_still(shop):
    assert shop.deliver(_paid(shop)) == [200]
    path = f"/api/v1/connections/{shop.connection['id']}"
    rotated = shop.brand.person("Owner").call("PATCH", path, {"credentials": {"webhookSecret": "whsec_new"}})
    assert rotated.status_code == 200
    by_new = stripe.sign(_paid(shop).body, secret="whsec_new")

    assert shop.deliver(by_new, _paid(shop)) == [200, 200]
    assert shop.deliver(shop.stage.forge_signature(_paid(shop))) == [401]
    assert len(shop.events()) == 3


def test_the_address_of_a_connection_that_ended_leads_nowhere_at_once_where_it_was_ended(shop):
    assert shop.deliver(_paid(shop)) == [200]
    ended = shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}")
    assert ended.status_code == 204
    assert shop.deliver(_paid(shop)) == [404]


def test_it_leads_nowhere_in_other_processes_once_they_ask_again(shop):
    assert shop.deliver(_paid(shop)) == [200]
    shop.change("update gateway_connection set status = 'Disconnected', disconnected_at = now()")
    receive.clear_cache()  # KEY_CACHE_S later
    assert shop.deliver(_paid(shop)) == [404]


def test_an_address_that_nobody_had_is_found_as_soon_as_somebody_has_it(shop):
    shop.change("update gateway_connection set status = 'Disconnected'")
    assert shop.deliver(_paid(shop)) == [404]
    shop.change("update gateway_connection set status = 'Active'")
    assert shop.deliver(_paid(shop)) == [200]
