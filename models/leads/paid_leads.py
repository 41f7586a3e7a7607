"""The data that decides about a paid lead: a known person, the count of today's leads, and the last click."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.prepared_statements import FreshSelect
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class PaidLeadCounts:
    """Whether a program has a paid lead of this person, how many the affiliate has today, and the daily limit."""

    is_known: bool
    today: int
    per_day: int


_COUNTS = Rows(PaidLeadCounts)
_COUNT = FreshSelect("""
select exists (select from lead where organization_id = %(org)s and program_id = %(program)s
    and email_normalized = any(%(inboxes)s) and method = 'lead_form' and is_test = %(test)s),
  (select count(*) from lead where organization_id = %(org)s and affiliate_id = %(affiliate)s
    and method = 'lead_form' and is_test = %(test)s and occurred_at >= %(since)s),
  leads_per_day
from organization where id = %(org)s
""")


def count(
    *,
    organization_id: UUID,
    program_id: UUID,
    affiliate_id: UUID,
    email_normalized: str,
    forgotten: Sequence[str],
    is_test: bool,
    since: datetime,
) -> PaidLeadCounts:
    """Return the counts of a person's and an affiliate's paid leads since a time, final under the budget's lock.

    Invalidated and expired leads count too: no person is paid for twice. `forgotten` are the values that replace the
    person's email in a lead whose address was erased.
    """
    params = {
        "org": organization_id,
        "program": program_id,
        "affiliate": affiliate_id,
        "inboxes": [email_normalized, *forgotten],
        "test": is_test,
        "since": since,
    }
    counts = _COUNTS.first(_COUNT, params)
    assert counts is not None  # it is the organization of this unit of work
    return counts


@dataclass(frozen=True, slots=True)
class LastClick:
    """The last click of a visitor; `reasons` None until it is scored."""

    score: int
    reasons: list[str] | None
    sub_id: str | None


_LAST_CLICKS = Rows(LastClick)
_LAST_CLICK = FreshSelect(f"""
select {columns(LastClick)} from click
where organization_id = %s and visitor_hash = %s and affiliate_id = %s and occurred_at >= %s
order by occurred_at desc, id desc limit 1
""")


def find_last_click(
    *, organization_id: UUID, affiliate_id: UUID, visitor_hash: bytes, since: datetime
) -> LastClick | None:
    """Return the last click of a visitor on an affiliate's links since a time."""
    return _LAST_CLICKS.first(_LAST_CLICK, (organization_id, visitor_hash, affiliate_id, since))
