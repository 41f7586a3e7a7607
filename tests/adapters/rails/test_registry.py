"""Which rail the money takes: the organization's sandbox, then what is configured, then the embedded sandbox."""

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
from tests.adapters.rails import places
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
def configured(monkeypatch):
    monkeypatch.setattr(registry, "_of_this_process", lambda: registry.build(settings.read(_ALL).rails))


def test_what_is_configured_is_built():
    built = registry.build(settings.read(_ALL).rails)

    assert {method: type(rail) for method, rail in built.items()} == {
        "ProcessorConnect": ProcessorConnectRail,
        "Wallet": WalletRail,
        "GlobalPayouts": GlobalPayoutsRail,
    }
    assert all(rail.method == method for method, rail in built.items())


def test_without_settings_nothing_is_configured():
    assert registry.build(settings.read({}).rails) == {}
    assert [registry.find_rail(method) for method in Method] == [None] * 3


def test_a_configured_rail_is_taken(brand, configured):
    assert isinstance(_rail(brand.id), WalletRail)


def test_an_organization_set_to_the_sandbox_takes_it_even_so(brand, rival, configured):
    brand.set(sandboxRail="slow")

    rail = _rail(brand.id)

    assert isinstance(rail, SandboxRail)
    assert (rail.method, rail._mode) == ("Wallet", "slow")
    assert isinstance(_rail(rival.id), WalletRail)


def test_without_a_rail_there_is_none_on_a_database_of_ones_own(brand):
    with pytest.raises(RailMissing, match="Wallet"):
        _rail(brand.id)


def test_without_a_rail_the_embedded_service_takes_the_sandbox(brand, monkeypatch):
    override_settings(monkeypatch, servers={"database_url": None})

    rail = _rail(brand.id)

    assert isinstance(rail, SandboxRail)
    assert rail._mode == "ok"


def test_a_sandbox_refuses_to_be_called_inside_a_transaction(brand):
    place = places.sandbox(brand)

    with db.unit_of_work(brand.id), pytest.raises(RuntimeError, match="open already"):
        place.rail.send(place.transfer())


def test_the_sandbox_of_another_organization_knows_nothing_of_a_key(brand, rival):
    place, other = places.sandbox(brand), places.sandbox(rival)
    place.rail.send(place.transfer())

    assert other.rail.look_up(other.transfer(payout_id=place.payout_id)) == NotFound()
    with pytest.raises(KeyTaken):
        other.rail.send(other.transfer(payout_id=place.payout_id))


@pytest.mark.parametrize("method", Method)
def test_the_sandbox_pays_by_every_method_with_its_references(brand, method):
    place = places.sandbox(brand, method)

    assert tuple(place.rail.send(place.transfer()).references) == REFERENCES[method]
