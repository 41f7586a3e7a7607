"""Rows of a source with the usual values of their class unless a test gives others, and switches that read them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from adapters import clock
from domain.statuses import AffiliateStatus
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    SourceAffiliate,
    SourceCommission,
    SourceCustomer,
    SourceLink,
)
from models import db
from pipelines.switches import running
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.switches.judged_rows import list_exceptions
from tests.support.switches.scene import SwitchScene, days_ago


def build_affiliate(source_id: str, **fields: Any) -> SourceAffiliate:
    """Return an approved affiliate of the campaign `main`, with an email like the id."""
    values: dict[str, Any] = {
        "source_id": source_id,
        "campaign": "main",
        "email": f"{source_id}@example.com",
        "full_name": source_id.title(),
        "status": AffiliateStatus.Approved,
        "word": "active",
    }
    return SourceAffiliate(**values | fields)


def build_link(source_id: str, token: str, *, affiliate: str = "ann", **fields: Any) -> SourceLink:
    """Return a link of an affiliate."""
    return SourceLink(source_id, AffiliateRef(id=affiliate), token, **fields)


def build_customer(source_id: str, **fields: Any) -> SourceCustomer:
    """Return a customer of ann's, without any name or payment."""
    values: dict[str, Any] = {"source_id": source_id, "affiliate": AffiliateRef(id="ann"), "campaign": "main"}
    return SourceCustomer(**values | fields)


def build_commission(source_id: str, affiliate: str | AffiliateRef | None = "ann", **fields: Any) -> SourceCommission:
    """Return a paid commission of 20.00 USD for a sale of 100.00; `affiliate` is their source id or how it is named."""
    values: dict[str, Any] = {
        "source_id": source_id,
        "affiliate": AffiliateRef(id=affiliate) if isinstance(affiliate, str) else affiliate,
        "campaign": "main",
        "kind": CommissionKind.Paid,
        "word": "paid",
        "currency": "USD",
        "amount_cents": 10_000,
        "commission_cents": 2_000,
        "occurred_at": days_ago(10),
    }
    return SourceCommission(**values | fields)


def read(
    brand: Brand,
    monkeypatch: Any,
    commissions: Sequence[Any],
    *,
    unpaid: str = "payable",
    campaigns: Mapping[str, UUID | None] | None = None,
) -> SwitchScene:
    """Return a switch that has read ann, ben and these commissions and is not judged yet."""
    mapped = {"main": brand.programs[0], **(campaigns or {})}
    scene = SwitchScene.create(brand, monkeypatch, campaigns=mapped, options={"unpaid": unpaid})
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("ben")])
    scene.read("commissions", commissions)
    return scene


def run(scene: SwitchScene) -> SwitchScene:
    """Judge a switch unless it is Ready, run it to its end, and return it; the ledger is correct afterwards."""
    if scene.switch().state == "Reading":
        scene.judge()
    switch = scene.switch()
    assert switch.preview is not None
    with db.unit_of_work(scene.brand.id):
        running.start(
            organization_id=scene.brand.id,
            switch_id=scene.id,
            member_id=None,
            confirm=switch.preview["to_confirm"],
            now=clock.now(),
        )
    drain("imports")
    assert scene.switch().state == "Completed"
    assert list_exceptions(scene.brand.id) == []
    return scene


def list_conversions(brand: Brand, columns: str) -> dict[str, tuple[Any, ...]]:
    """Return columns of the brought conversions by source id."""
    rows = brand.rows(f"select external_event_id, {columns} from conversion where switch_id is not null")
    return {external_id.rpartition(":")[2]: tuple(values) for external_id, *values in rows}


def find_payable(scene: SwitchScene) -> int:
    """Return what the preview says becomes payable in US cents."""
    preview = scene.switch().preview
    assert preview is not None
    return sum(each["cents"] for each in preview["to_confirm"]["payable"])


def sum_balances(brand: Brand) -> int:
    """Return what the brand owes affiliates for conversions that are not locked, in US cents."""
    ((cents,),) = brand.rows(
        "select coalesce(sum(l.amount_cents), 0)::bigint from ledger_entry l"
        " join conversion c on c.organization_id = l.organization_id and c.id = l.conversion_id"
        " where not c.payout_locked"
    )
    return int(cents)
