"""The aggregation of paid clicks: one conversion per campaign, affiliate, channel tag and hour.

A row keeps its fee and its currency for life: a fee that changes within the hour starts a new row, with the fee in its
external id. A row that the brand denied, invalidated or refunded takes no more clicks and gets no successor: later
clicks of that hour are recorded and do not earn. A paid row gets a successor for late clicks.
Source: core spec, "Conversion"; tracking spec, attribution method cpc_aggregation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from domain.programs.fees import Fee
from domain.programs.rewards import Reward
from domain.statuses import UNPAID, ConversionStatus

SOURCE = "cpc"
METHOD = "cpc_aggregation"

# An hour may be paid every few minutes. All successors are looked up at once where the first row takes no more clicks.
_MAX_SUCCESSORS = 24


@dataclass(frozen=True, slots=True)
class HourRow:
    """The current state of a row of clicks: `value` is the fee of each in major units, cents are minor units."""

    id: UUID
    external_event_id: str
    status: str
    currency: str
    value: Decimal
    commission_cents: int
    reversed_cents: int


def external_id(*, program_id: str, affiliate_id: str, at: datetime, sub_id: str | None) -> str:
    """Return the external id of the row of an hour (UTC): `cpc:{program}:{affiliate}:{YYYYMMDDHH}[:subId]`."""
    parts = [SOURCE, program_id, affiliate_id, at.astimezone(UTC).strftime("%Y%m%d%H")]
    return ":".join([*parts, sub_id] if sub_id else parts)


def held_id(click_id: str) -> str:
    """Return the external id of the quarantined row of one click."""
    return f"cpc-held:{click_id}"


def candidates(base: str, fee: Fee) -> tuple[str, ...]:
    """Return the external ids of the rows that may take clicks of this fee, in order."""
    own = f"{base}@{fee.cents}{fee.currency}"
    return (base, own, *(f"{own}+{number}" for number in range(2, _MAX_SUCCESSORS + 1)))


def place(base: str, reward: Reward, rows: Mapping[str, HourRow]) -> tuple[str, HourRow | None] | None:
    """Return the external id and, if it exists, the row that takes clicks of this fee; None where no row may."""
    fee = reward.fee
    for name in candidates(base, fee):
        row = rows.get(name)
        if row is None:
            return name, None
        if (row.currency, row.value) != (fee.currency, reward.value):
            continue  # another fee of the same hour
        if row.status in UNPAID:
            return name, row
        if row.status != ConversionStatus.Paid:
            return None
    return None
