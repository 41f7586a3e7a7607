"""The slice of a collection that a job writes, and affiliates who were replaced or deleted since they were judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from domain.switches import decision_json
from domain.switches.reasons import LeftOutReason
from models.affiliates import bulk_actions
from models.switches.switches import Switch
from models.switches.written_rows import written
from models.switches.written_rows.written import MergedSince, RowToWrite

Decision = TypeVar("Decision", bound=Any)


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows of one collection of a switch; `imports` are the ids of its two imports by kind."""

    switch: Switch
    rows: Sequence[RowToWrite]
    imports: Mapping[str, UUID]
    now: datetime

    @property
    def organization_id(self) -> UUID:
        """The organization."""
        return self.switch.organization_id

    def read(self, kind: type[Decision]) -> list[tuple[RowToWrite, Decision]]:
        """Return the rows with their decisions; an affiliate who was replaced since is the one who is there."""
        merged = written.list_merged_since(**self.switch.key) if self.rows else []
        replacing = _Replacing(
            {each.decided_id: each for each in merged},
            {each.decided_link_id: each.link_id for each in merged if each.decided_link_id and each.link_id},
        )
        return [(row, replacing.apply(decision_json.read(kind, row.decision))) for row in self.rows]


@dataclass(slots=True)
class WrittenRows:
    """What became of the rows of a slice. Rows that are neither left out nor unchanged are written."""

    left_out: dict[str, str] = field(default_factory=dict)
    unchanged: dict[str, list[str]] = field(default_factory=dict)
    merged: dict[str, UUID] = field(default_factory=dict)
    former: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def skips(self, source_id: str) -> bool:
        """Return whether a row is not written."""
        return (
            source_id in self.left_out
            or source_id in self.merged
            or any(source_id in source_ids for source_ids in self.unchanged.values())
        )


def leave_out_deleted(
    slice_: Slice, rows: Sequence[tuple[RowToWrite, Decision]], written: WrittenRows
) -> list[tuple[RowToWrite, Decision]]:
    """Return the rows whose affiliate was not deleted meanwhile, and leave the others out. Budget: 1 round trip."""
    deleted = bulk_actions.find_deleted(
        organization_id=slice_.organization_id, affiliate_ids=[decision.affiliate_id for _, decision in rows]
    )
    written.left_out |= {
        row.source_id: LeftOutReason.AffiliateUnknown.value
        for row, decision in rows
        if decision.affiliate_id in deleted
    }
    return [(row, decision) for row, decision in rows if decision.affiliate_id not in deleted]


@dataclass(frozen=True, slots=True)
class _Replacing:
    affiliates: Mapping[UUID, MergedSince]
    links: Mapping[UUID, UUID]

    def apply(self, decision: Decision) -> Decision:
        there = self.affiliates.get(decision.affiliate_id)
        if there is None:
            return decision
        changes: dict[str, Any] = {"affiliate_id": there.affiliate_id}
        if getattr(decision, "link_id", None) in self.links:
            changes["link_id"] = self.links[decision.link_id]
        return replace(decision, **changes)
