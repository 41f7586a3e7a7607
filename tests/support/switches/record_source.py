"""A source whose raw rows are the fields of the records themselves, so that tests state records and nothing else."""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from adapters.switches.base import SourceInfo, SourceRow, SwitchContext, UnreadableRow
from domain.statuses import AffiliateStatus
from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    Record,
    SourceAffiliate,
    SourceCode,
    SourceCommission,
    SourceCustomer,
    SourceGroup,
    SourceLink,
    SourcePayout,
)
from domain.switches.sources import Collection, SourceName

_CLASSES: Mapping[str, type] = {
    Collection.Affiliates: SourceAffiliate,
    Collection.Links: SourceLink,
    Collection.Codes: SourceCode,
    Collection.Customers: SourceCustomer,
    Collection.Commissions: SourceCommission,
    Collection.Payouts: SourcePayout,
}
_READERS: Mapping[str, Any] = {
    "status": AffiliateStatus,
    "kind": CommissionKind,
    "problem": LeftOutReason,
    "affiliate": lambda value: AffiliateRef(**value),
    "group": lambda value: SourceGroup(**value | {"value": Decimal(value["value"]) if value.get("value") else None}),
    "warnings": tuple,
    **dict.fromkeys(("created_at", "first_paid_at", "became_lead_at", "occurred_at", "due_at"), datetime.fromisoformat),
}


class RecordSource:
    """A source for judging: it is never asked for a page."""

    info = SourceInfo(
        name=SourceName.Rewardful,
        label="Records",
        address="https://records.example",
        fields=(),
        collections=tuple(_CLASSES),
        parameters=("via",),
        requests_per_s=1,
    )

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return the record. A row with the field `broken` is unreadable."""
        if "broken" in row.data:
            raise UnreadableRow("broken")
        values = {
            name: _READERS[name](value) if name in _READERS and value is not None else value
            for name, value in row.data.items()
        }
        record: Record = _CLASSES[row.collection](**values)
        return record


def to_data(record: Any) -> dict[str, Any]:
    """Return a record as the raw row that `RecordSource` understands as it."""
    return dataclasses.asdict(record)


def rows_of(records: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return (source id, raw row) of records."""
    return [(record.source_id, to_data(record)) for record in records]
