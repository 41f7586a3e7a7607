"""The verdict on an item, as it is stored."""

from dataclasses import asdict, dataclass, is_dataclass
from typing import Any
from uuid import UUID

from domain.switches.reasons import LeftOutReason, SwitchVerdict
from models.switches.judgement.items import Item


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """What becomes of an item. `decision` is a class of `domain.switches.decisions`, or its fields.

    `warnings` are added to those of understanding. `key`, `kind` and `customer_ref` are stored where they are given.
    """

    item: Item
    verdict: SwitchVerdict
    reason: LeftOutReason | None = None
    decision: Any = None
    target_type: str | None = None
    target_id: UUID | None = None
    warnings: tuple[str, ...] = ()
    key: str | None = None
    kind: str | None = None
    customer_ref: str | None = None

    @property
    def all_warnings(self) -> list[str]:
        """The warnings of understanding and judging, each once."""
        return list(dict.fromkeys([*self.item.warnings, *self.warnings]))

    def to_row(self) -> dict[str, Any]:
        """Return the columns for `items.stage_verdicts`."""
        decision = self.decision
        return {
            "source_id": self.item.source_id,
            "verdict": self.verdict,
            "reason": self.reason,
            "decision": asdict(decision) if is_dataclass(decision) and not isinstance(decision, type) else decision,
            "target_type": self.target_type,
            "target_id": self.target_id,
            "warnings": self.all_warnings if self.warnings else None,
            "key": self.key,
            "kind": self.kind,
            "customer_ref": self.customer_ref,
        }


def leave_out(item: Item, reason: LeftOutReason | str, *, warnings: tuple[str, ...] = ()) -> ItemVerdict:
    """Return the verdict that leaves an item out."""
    return ItemVerdict(item, SwitchVerdict.LeftOut, LeftOutReason(reason), warnings=warnings)


def is_mapped(item: Item, program_by_campaign: Any) -> bool:
    """Return whether an item's own campaign leads to a program; True if it names none."""
    return item.campaign_ref is None or program_by_campaign.get(item.campaign_ref) is not None


def has_owner(item: Item) -> bool:
    """Return whether an item's affiliate comes over."""
    return item.owner_verdict is not None and item.owner_verdict != SwitchVerdict.LeftOut and item.owner_id is not None
