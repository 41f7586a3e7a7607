"""How paid clicks are gathered: one conversion per campaign, affiliate, channel tag and hour, and when it takes more.

A fee that changed within the hour gets a row of its own, which says so in its external id; a row keeps its fee and its
currency for life. A row that was decided against, denied or invalidated or refunded by the brand, takes no more, and
nothing starts anew beside it: what comes later that hour is recorded and does not earn. One that is paid has a
successor for the clicks that come late.
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

# An hour may be paid every few minutes. All of their names are looked for at once where its first row takes no more.
_MOST_SUCCESSORS = 24


@dataclass(frozen=True, slots=True)
class HourRow:
    """A row that gathers clicks, as it stands: `value` is the fee of each in major units, cents are minor units."""

    id: UUID
    external_event_id: str
    status: str
    currency: str
    value: Decimal
    commission_cents: int
    reversed_cents: int


def external_id(*, program_id: str, affiliate_id: str, at: datetime, sub_id: str | None) -> str:
    """Return what the row of an hour (UTC) is known by: `cpc:{program}:{affiliate}:{YYYYMMDDHH}[:subId]`."""
    parts = [SOURCE, program_id, affiliate_id, at.astimezone(UTC).strftime("%Y%m%d%H")]
    return ":".join([*parts, sub_id] if sub_id else parts)


def held_id(click_id: str) -> str:
    """Return what the quarantined row of one click is known by."""
    return f"cpc-held:{click_id}"


def candidates(base: str, fee: Fee) -> tuple[str, ...]:
    """Return the external ids under which clicks of this fee may be gathered, in their order."""
    own = f"{base}@{fee.cents}{fee.currency}"
    return (base, own, *(f"{own}+{number}" for number in range(2, _MOST_SUCCESSORS + 1)))


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
