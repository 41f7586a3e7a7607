"""Charges for deals that a restored database lacks are listed, so that no brand pays for nothing."""

import pytest

from adapters.funding.processor import ProcessorFunding
from domain.deals.funding import FundingCall, FundingKind, charge_key
from models import ids
from tests.adapters.rails import fake_processor as fake
from tests.support.rows.deal_scene import DealScene


@pytest.fixture
def service():
    processor = fake.FakeProcessor()
    yield processor
    processor.stop()


@pytest.fixture
def source(service, monkeypatch):
    """Return the processor as the funding source of this process."""
    configured = ProcessorFunding(url=service.url, key=fake.KEY)
    monkeypatch.setattr("adapters.funding.registry.find_source", lambda: configured)
    return configured


def _charge(source, deal_id, organization_id):
    source.ask(
        FundingCall(
            kind=FundingKind.charge,
            key=charge_key(deal_id=deal_id, number=1),
            organization_id=organization_id,
            deal_id=deal_id,
            amount_cents=51_250,
            currency="USD",
            source="cus_1/pm_1",
        )
    )


def test_charges_of_unknown_or_unfunded_deals_are_listed(app, server, source):
    dealing = DealScene.create(app)
    funded, accepted, unknown = dealing.create_funded(50_000), dealing.create_accepted(50_000), str(ids.new_id())
    server.forget_server()
    for deal_id in (funded, accepted, unknown):
        _charge(source, deal_id, dealing.brand.id)

    result = server.reconcile()

    assert {charge["dealId"]: charge["problem"] for charge in result["charges"]} == {
        accepted: "deal_not_funded",
        unknown: "deal_unknown",
    }
    assert all(charge["advice"] for charge in result["charges"])
    assert {(charge["amountCents"], charge["currency"]) for charge in result["charges"]} == {(51_250, "USD")}
    assert result["clean"]  # a charge holds no payout
    words = ("restore", "reconcile", "--restored-to", server.restored_to, "--dry-run")
    assert f"512.5 USD for deal {unknown}" in server.flask(*words)[1].replace("512.50", "512.5")


def test_unreadable_list_of_charges_is_reported(app, server, source, service):
    for _ in range(3):
        _charge(source, ids.new_id(), ids.new_id())
    service.page_fault = "500"
    server.forget_server()

    assert "500" in server.reconcile()["chargesFailedBecause"]
