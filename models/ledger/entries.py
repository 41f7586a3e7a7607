"""Writes the append-only ledger. Amounts are signed minor units of the conversion's currency.

The database accepts one entry per kind, cause and conversion, so nothing is booked twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from models.conversions.conversions import Conversion
from models.db import db
from models.ids import new_id
from models.prepared_statements import PreparedStatement
from models.table import rows_as_json

_INTO = """
insert into ledger_entry (id, organization_id, program_id, affiliate_id, conversion_id, kind, amount_cents, currency,
  cause_id, is_test, created_at)"""

_INSERT = PreparedStatement(f"""{_INTO}
select id, organization_id, program_id, affiliate_id, conversion_id, kind, amount_cents, currency, cause_id, is_test,
  created_at
from json_populate_recordset(null::ledger_entry, %s)
""")


@dataclass(frozen=True, slots=True)
class NewEntry:
    """A new entry; see `build`."""

    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    conversion_id: UUID
    kind: str
    amount_cents: int
    currency: str
    cause_id: UUID
    is_test: bool
    created_at: datetime
    id: UUID = field(default_factory=new_id)


def build(conversion: Conversion, *, kind: str, amount_cents: int, cause_id: UUID, created_at: datetime) -> NewEntry:
    """Return an entry about a conversion.

    `kind` is earn, reverse, restore, adjust, pay or clawback; `cause_id` is the conversion, refund, decision or payout
    that moved the money.
    """
    return NewEntry(
        organization_id=conversion.organization_id,
        program_id=conversion.program_id,
        affiliate_id=conversion.affiliate_id,
        conversion_id=conversion.id,
        kind=kind,
        amount_cents=amount_cents,
        currency=conversion.currency,
        cause_id=cause_id,
        is_test=conversion.is_test,
        created_at=created_at,
    )


def stage(conversion: Conversion, *, kind: str, amount_cents: int, cause_id: UUID, created_at: datetime) -> None:
    """Stage one entry, with the arguments of `build`."""
    stage_all([build(conversion, kind=kind, amount_cents=amount_cents, cause_id=cause_id, created_at=created_at)])


def stage_all(entries: Sequence[NewEntry]) -> None:
    """Stage entries in one statement; zero amounts create no entry."""
    if nonzero := [entry for entry in entries if entry.amount_cents]:
        db.stage(_INSERT, (rows_as_json(nonzero),))


def insert_sql(*, kind: str, cents: str, cause: str, at: str) -> str:
    """Return SQL that books one entry for every conversion `c`; the caller appends the `from` clause.

    Each argument is an SQL expression; the clause must exclude rows with a zero amount.
    """
    return f"""{_INTO}
select gen_random_uuid(), c.organization_id, c.program_id, c.affiliate_id, c.id, {kind}, {cents}, c.currency,
  {cause}, c.is_test, {at}"""
