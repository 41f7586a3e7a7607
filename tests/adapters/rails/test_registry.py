"""The rail of a payout: the organization's sandbox, then the configured rail, then the embedded sandbox."""

from types import SimpleNamespace

import pytest

import settings
from adapters import clock
from adapters.rails import registry
from adapters.rails.base import KeyTaken, RailMissing
from adapters.rails.global_payouts import GlobalPayoutsRail
from adapters.rails.processor_connect import ProcessorConnectRail
from adapters.rails.wallet import WalletRail
from domain.payouts.transfers import REFERENCES, Method, NotFound
from models import db
from models.organization import organizations
from pipelines.payouts import rails
from pipelines.payouts.sandbox_rail import SandboxRail
from tests.adapters.rails import rail_setups
from tests.support.settings_overrides import override_settings

_ALL = {
    "PAYOUT_RAIL_PROCESSOR_KEY": "sk_1",
    "PAYOUT_RAIL_WALLET_CLIENT_ID": "c",
    "PAYOUT_RAIL_WALLET_SECRET": "s",
    "PAYOUT_RAIL_GLOBAL_KEY": "sk_2",
    "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT": "fa_1",
}


def _rail(organization_id):
    with db.unit_of_work(organization_id):
        mode = organizations.read_sandbox_rail(organization_id)
        return rails.choose(SimpleNamespace(method="Wallet", sandbox_rail=mode), now=clock.now())


@pytest.fixture
def configured_rails(monkeypatch):
    monkeypatch.setattr(registry, "_configured_rails", lambda: registry.build(settings.read(_ALL).rails))


def test_configured_rails_are_built():
    rails_by_method = registry.build(settings.read(_ALL).rails)

    assert {method: type(rail) for method, rail in rails_by_method.items()} == {
        "ProcessorConnect": ProcessorConnectRail,
        "Wallet": WalletRail,
        "GlobalPayouts": GlobalPayoutsRail,
    }
    assert all(rail.method == method for method, rail in rails_by_method.items())


def test_no_rail_is_configured_without_settings():
    assert registry.build(settings.read({}).rails) == {}
    assert [registry.find_rail(method) for method in Method] == [None] * 3


def test_configured_rail_is_used(brand, configured_rails):
    assert isinstance(_rail(brand.id), WalletRail)


def test_sandbox_organization_uses_the_sandbox_despite_configured_rails(brand, rival, configured_rails):
    brand.set(sandboxRail="slow")

    rail = _rail(brand.id)

    assert isinstance(rail, SandboxRail)
    assert (rail.method, rail._mode) == ("Wallet", "slow")
    assert isinstance(_rail(rival.id), WalletRail)


def test_missing_rail_raises_on_an_external_database(brand):
    with pytest.raises(RailMissing, match="Wallet"):
        _rail(brand.id)


def test_embedded_service_uses_the_sandbox_without_a_rail(brand, monkeypatch):
    override_settings(monkeypatch, servers={"database_url": None})

    rail = _rail(brand.id)

    assert isinstance(rail, SandboxRail)
    assert rail._mode == "ok"


def test_sandbox_refuses_a_call_inside_a_transaction(brand):
    rail_setup = rail_setups.sandbox(brand)

    with db.unit_of_work(brand.id), pytest.raises(RuntimeError, match="open already"):
        rail_setup.rail.send(rail_setup.transfer())


def test_sandbox_of_another_organization_does_not_find_the_key(brand, rival):
    rail_setup, other = rail_setups.sandbox(brand), rail_setups.sandbox(rival)
    rail_setup.rail.send(rail_setup.transfer())

    assert other.rail.look_up(other.transfer(payout_id=rail_setup.payout_id)) == NotFound()
    with pytest.raises(KeyTaken):
        other.rail.send(other.transfer(payout_id=rail_setup.payout_id))


@pytest.mark.parametrize("method", Method)
def test_sandbox_pays_by_every_method_with_its_references(brand, method):
    rail_setup = rail_setups.sandbox(brand, method)

    assert tuple(rail_setup.rail.send(rail_setup.transfer()).references) == REFERENCES[method]
