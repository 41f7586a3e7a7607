"""Switches in any state, inserted by the models, with a preview, progress and rows to look at."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from models import db
from models.imports import imports
from models.imports.imports import ImportJob
from models.switches import switches
from models.switches.judgement import items
from models.switches.switches import SwitchCampaign
from tests.support.databases import run_as_brand
from tests.support.rows.brands import Brand
from tests.support.running import row_ids

TO_CONFIRM: dict[str, Any] = {"affiliates": 3, "customers": 2, "commissions": 4, "payable": []}
COUNTS = {"read": 6, "new": 3, "known": 1, "changed": 0, "merged": 1, "left_out": 1}
PREVIEW: dict[str, Any] = {
    "as_of": "2026-05-18T09:50:00+00:00",
    "counts": dict.fromkeys(("affiliates", "links", "codes", "customers", "commissions"), COUNTS),
    "money": [
        {
            "currency": "USD",
            "sales": 4,
            "gross_cents": 19600,
            "refunded_cents": 900,
            "commission_cents": 3920,
            "paid_cents": 2940,
            "owed_cents": 980,
            "pending_cents": 0,
            "lost_cents": 0,
        }
    ],
    "figures": [
        {
            "name": "total_affiliates",
            "of": None,
            "currency": None,
            "theirs": 7,
            "read": 6,
            "difference": 1,
            "explained": [{"reason": "test_row", "count": 1, "cents": None}],
        },
        {
            "name": "balance",
            "of": "ben@example.com",
            "currency": "USD",
            "theirs": 980,
            "read": 980,
            "difference": 0,
            "explained": [],
        },
    ],
    "left_out": [
        {
            "collection": "commissions",
            "reason": "in_future",
            "count": 1,
            "commission": [{"currency": "USD", "cents": 980}],
        }
    ],
    "terms": [
        {
            "campaign": "Friends",
            "theirs": {"commission_type": "Percentage", "commission_value": "30"},
            "ours": {"commission_type": "Percentage", "commission_value": "20", "recurring_months": 12},
            "differ": ["commission_value"],
        }
    ],
    "warnings": [{"code": "links_on_foreign_host", "count": 2, "example": "https://go.example.com/ben"}],
    "to_confirm": TO_CONFIRM,
    "letters": 0,
}
RESULT = {
    name: {"created": 3, "merged": 1, "changed": 0, "left_out": 1}
    for name in ("affiliates", "links", "codes", "customers", "commissions")
}


def insert_switch(brand: Brand, state: str = "Connected", **columns: Any) -> UUID:
    """Insert a switch in a state with the columns that it usually has there, and return its id."""
    now, switch_id = datetime.now(UTC), row_ids.new_id()
    values: dict[str, Any] = {
        "id": switch_id,
        "organization_id": brand.id,
        "source": "rewardful",
        "state": "Connected",
        "account_name": "Acme there",
        "account_reference": "acme.example",
        "created_at": now,
        "touched_at": now,
    }
    with db.unit_of_work(brand.id):
        assert switches.insert(values)
        switches.stage_campaigns(
            organization_id=brand.id,
            switch_id=switch_id,
            campaigns=[SwitchCampaign("camp-1", "Friends", 6, {"commission_value": "30"}, None)],
        )
        switch = switches.lock(organization_id=brand.id, switch_id=switch_id)
        assert switch is not None
        if state in ("Completed", "Undoing", "Undone"):
            _stage_imports(brand, switch_id, now)
        switches.update(switch, {"state": state, **_usual_columns(state, now), **columns})
    for place, collection in enumerate(("affiliates", "customers", "commissions")):
        run_as_brand(
            brand,
            "insert into switch_collection (organization_id, switch_id, collection, place, read, total, written)"
            " values (%s, %s, %s, %s, 6, 7, 2)",
            brand.id,
            switch_id,
            collection,
            place,
        )
    return switch_id


def _usual_columns(state: str, now: datetime) -> dict[str, Any]:
    if state == "Connected":
        return {"credentials_sealed": b"sealed"}
    usual: dict[str, Any] = {"reading_at": now - timedelta(minutes=2), "requests": 12}
    if state == "Reading":
        return usual | {"stage": "customers", "credentials_sealed": b"sealed"}
    if state == "Paused":
        error = {"last_error_code": "credentials_refused", "last_error_message": "It said no.", "last_error_at": now}
        return usual | error | {"paused_in": "Reading", "stage": "customers", "credentials_sealed": b"sealed"}
    usual |= {"read_at": now, "preview": PREVIEW}
    if state in ("Completed", "Undoing", "Undone"):
        usual |= {"completed_at": now, "undo_until": now + timedelta(days=14), "result": RESULT}
    return usual | {"stage": "customers" if state in ("Writing", "Undoing") else None}


def _stage_imports(brand: Brand, switch_id: UUID, now: datetime) -> None:
    for kind in ("Affiliates", "Conversions"):
        imports.stage(
            ImportJob(
                id=row_ids.new_id(),
                organization_id=brand.id,
                kind=kind,  # type: ignore[arg-type]  # one of its two kinds
                total=3,
                imported=3,
                skipped=0,
                errored=0,
                reasons={},
                created_by=None,
                created_at=now,
                source="rewardful",
                switch_id=switch_id,
            )
        )


_COMMISSION = {
    "amount_cents": 4900,
    "commission_cents": 980,
    "affiliate_ref": "a1",
    "occurred_at": "2026-05-01T10:00:00Z",
}


def insert_rows(brand: Brand, switch_id: UUID, *, currency: str = "USD") -> None:
    """Insert six judged rows: three commissions, of which one is left out, and three affiliates."""
    rows = [
        *(("affiliates", f"a{number}", f"person{number}@example.com", "new", None) for number in (1, 2, 3)),
        ("commissions", "m1", "=order-1", "new", None),
        ("commissions", "m2", "order-2", "known", None),
        ("commissions", "m3", "order-3", "left_out", "in_future"),
    ]
    with db.unit_of_work(brand.id):
        items.stage_store(
            organization_id=brand.id,
            switch_id=switch_id,
            items=[
                {"collection": collection, "source_id": source_id, "label": label, "record": {"email": label}}
                | (_COMMISSION | {"currency": currency} if source_id[0] == "m" else {})
                for collection, source_id, label, _, _ in rows
            ],
        )
        for collection in ("affiliates", "commissions"):
            items.stage_verdicts(
                organization_id=brand.id,
                switch_id=switch_id,
                collection=collection,
                verdicts=[
                    {"source_id": source_id, "verdict": verdict, "reason": reason}
                    for name, source_id, _, verdict, reason in rows
                    if name == collection
                ],
            )
