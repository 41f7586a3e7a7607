"""The append-only ledger, as it is written. Amounts are signed minor units of the conversion's currency.

The database takes one entry per kind, cause and conversion, so nothing is booked twice.
"""

from datetime import datetime
from uuid import UUID

from models.conversions.conversions import Conversion
from models.db import db
from models.hot import Hot
from models.ids import new_id

_INTO = """
insert into ledger_entry (id, organization_id, program_id, affiliate_id, conversion_id, kind, amount_cents, currency,
  cause_id, is_test, created_at)"""

_INSERT = Hot(f"""{_INTO}
values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
""")


def stage(conversion: Conversion, *, kind: str, amount_cents: int, cause_id: UUID, created_at: datetime) -> None:
    """Stage one entry; what moved nothing leaves no entry.

    `kind` is earn, reverse, restore, adjust, pay or clawback, `cause_id` what made the money move: the conversion, the
    refund, the decision, the payout.
    """
    if amount_cents == 0:
        return
    db.stage(
        _INSERT,
        (
            new_id(),
            conversion.organization_id,
            conversion.program_id,
            conversion.affiliate_id,
            conversion.id,
            kind,
            amount_cents,
            conversion.currency,
            cause_id,
            conversion.is_test,
            created_at,
        ),
    )


def insertion(*, kind: str, cents: str, cause: str, at: str) -> str:
    """Return SQL that books one entry for every conversion `c` of the `from` clause that is to follow it.

    Each argument is an SQL expression; rows that moved nothing are for the clause to leave out.
    """
    return f"""{_INTO}
select gen_random_uuid(), c.organization_id, c.program_id, c.affiliate_id, c.id, {kind}, {cents}, c.currency,
  {cause}, c.is_test, {at}"""
