"""Sales without a conversion because their affiliate could not earn. Lists exclude rows of test keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.attribution import log
from models.db import db
from models.table import Rows, columns, placeholders, row_values


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedSale:
    """A new uncredited sale. Money is minor units; `affiliate_status_at_drop` is the reason."""

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    source: str
    external_event_id: str
    amount_cents: int
    currency: str
    reason: str
    affiliate_status_at_drop: str
    is_test: bool
    occurred_at: datetime
    attribution_log: list[str] | None


_INSERT = f"""
insert into uncredited_conversion ({columns(DroppedSale)}) values ({placeholders(DroppedSale)})
on conflict (organization_id, source, external_event_id) do nothing
"""


def stage_insert(dropped: DroppedSale) -> None:
    """Stage the row of a sale whose affiliate could not earn; a retry adds no row."""
    db.stage(_INSERT, row_values(dropped))


@dataclass(frozen=True, slots=True)
class UncreditedSale:
    """An uncredited sale with its affiliate, who may be deleted. Money is minor units."""

    id: UUID
    affiliate_id: UUID
    affiliate_email: str
    affiliate_name: str
    program_id: UUID
    amount_cents: int
    currency: str
    reason: str
    affiliate_status_at_drop: str
    status: str
    occurred_at: datetime
    attribution_log: list[str] | None

    @property
    def attribution(self) -> Sequence[log.LogLine]:
        """The attribution steps that led to the affiliate; empty if they were not stored."""
        return log.read(self.attribution_log or ())


_ROWS = Rows(UncreditedSale)
_COLUMNS = columns(UncreditedSale, "u", affiliate_email="a.email", affiliate_name="a.full_name")
# The values are literals in the planned text, so a null filter costs nothing.
_PAGE = f"""
select {_COLUMNS} from uncredited_conversion u join affiliate a on a.id = u.affiliate_id
where u.organization_id = %(org)s and not u.is_test
  and (%(status)s::text is null or u.status = %(status)s)
  and (%(affiliate)s::uuid is null or u.affiliate_id = %(affiliate)s)
order by u.occurred_at desc, u.id desc limit %(limit)s
"""
_LOCK = f"""
select {_COLUMNS} from uncredited_conversion u join affiliate a on a.id = u.affiliate_id
where u.organization_id = %s and not u.is_test and u.id = %s
for update of u
"""


def page(*, organization_id: UUID, status: str | None, affiliate_id: UUID | None, limit: int) -> list[UncreditedSale]:
    """Return up to `limit` rows, newest first; None does not filter."""
    return _ROWS.all(_PAGE, {"org": organization_id, "status": status, "affiliate": affiliate_id, "limit": limit})


def lock(*, organization_id: UUID, uncredited_id: UUID) -> UncreditedSale | None:
    """Return one row, locked until the transaction ends."""
    return _ROWS.first(_LOCK, (organization_id, uncredited_id))


_DISMISSED = "update uncredited_conversion set status = 'dismissed' where organization_id = %s and id = %s"


def stage_dismissal(*, organization_id: UUID, uncredited_id: UUID) -> None:
    """Stage that a row is reviewed."""
    db.stage(_DISMISSED, (organization_id, uncredited_id))


@dataclass(frozen=True, slots=True)
class OpenTotal:
    """The total of open rows in one currency."""

    currency: str
    amount_cents: int
    count: int


_TOTALS = Rows(OpenTotal)
_OPEN_TOTALS = """
select currency, sum(amount_cents)::bigint, count(*) from uncredited_conversion
where organization_id = %s and status = 'open' and not is_test group by currency order by currency
"""


def sum_open(organization_id: UUID) -> list[OpenTotal]:
    """Return the totals of open rows, by currency."""
    return _TOTALS.all(_OPEN_TOTALS, (organization_id,))
