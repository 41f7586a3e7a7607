"""What decides about a paid lead: whether the person is known, how many came today, and the click before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.prepared_statements import FreshSelect
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class KnownLeads:
    """Whether a program has a paid lead of this person, how many the affiliate brought, how many are welcome a day."""

    is_known: bool
    today: int
    per_day: int


_COUNTS = Rows(KnownLeads)
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
) -> KnownLeads:
    """Return what is known of a person and of an affiliate's paid leads since a moment, final under the budget's lock.

    What was invalidated and what has expired counts too: nobody is paid for twice. `forgotten` is what may
    stand for the person in a lead whose address is not kept any more.
    """
    asked = {
        "org": organization_id,
        "program": program_id,
        "affiliate": affiliate_id,
        "inboxes": [email_normalized, *forgotten],
        "test": is_test,
        "since": since,
    }
    found = _COUNTS.first(_COUNT, asked)
    assert found is not None  # it is the organization of this unit of work
    return found


@dataclass(frozen=True, slots=True)
class LastClick:
    """The last click of a visitor; no reasons (None) while nobody has judged it."""

    score: int
    reasons: list[str] | None
    sub_id: str | None


_LAST_CLICKS = Rows(LastClick)
_LAST_CLICK = FreshSelect(f"""
select {columns(LastClick)} from click
where organization_id = %s and visitor_hash = %s and affiliate_id = %s and occurred_at >= %s
order by occurred_at desc, id desc limit 1
""")


def last_click(*, organization_id: UUID, affiliate_id: UUID, visitor_hash: bytes, since: datetime) -> LastClick | None:
    """Return the last click of a visitor on an affiliate's links since a moment."""
    return _LAST_CLICKS.first(_LAST_CLICK, (organization_id, visitor_hash, affiliate_id, since))
