"""Fraud events about blocked clicks, recorded by the pipeline itself."""

from typing import Any
from uuid import UUID

from domain import fraud
from models import db
from pipelines.fraud import fraud_events
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import time_ago
from tests.support.running import row_ids


def record_blocked_click(brand: Brand, affiliate_id: UUID, *reasons: str, score: int = 90, **fields: Any) -> UUID:
    """Record that a click of an hour ago in the last program was blocked; return the fraud event's id."""
    values: dict[str, Any] = {
        "organization_id": brand.id,
        "program_id": brand.programs[-1],
        "affiliate_id": affiliate_id,
        "subject": "click",
        "subject_id": row_ids.new_id(),
        "verdict": fraud.Verdict(score, reasons or ("headless", "language_mismatch")),
        "action": "blocked",
        "severity": fraud.severity(score),
        "at": time_ago(hours=1),
    } | fields
    with db.unit_of_work(brand.id):
        fraud_events.record_event(**values)
    ((event_id,),) = brand.rows("select id from fraud_event where subject_id = %s", values["subject_id"])
    return UUID(str(event_id))
