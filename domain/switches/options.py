"""Options that a brand may set for a switch. Source: the switch-over rules, "Routes" (options)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class AssumedCommission:
    """The commission of a source that states none: percent of the sale, or major units of its currency."""

    type: Literal["Percentage", "Fixed"]
    value: Decimal


@dataclass(frozen=True, slots=True)
class SwitchOptions:
    """The options of a switch. `include_statuses` None: all; `currency` of sources whose rows name none."""

    unpaid: Literal["history", "payable"] = "history"
    include_statuses: tuple[str, ...] | None = None
    without_referrals: bool = True
    groups: Literal["tag", "group", "none"] = "tag"
    codes: bool = True
    customer_id_is: Literal["auto", "billing", "own"] = "auto"
    currency: str | None = None
    assumed_commission: AssumedCommission | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the options as they are stored."""
        values = asdict(self)
        if self.assumed_commission is not None:
            values["assumed_commission"]["value"] = str(self.assumed_commission.value)
        return values

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SwitchOptions":
        """Return stored options; what is not stored has its default."""
        values = dict(stored)
        assumed = values.get("assumed_commission")
        if assumed is not None:
            values["assumed_commission"] = AssumedCommission(assumed["type"], Decimal(assumed["value"]))
        if values.get("include_statuses") is not None:
            values["include_statuses"] = tuple(values["include_statuses"])
        return cls(**values)
