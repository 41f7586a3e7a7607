"""Whom a conversion is recorded for by hand, and the terms that it is priced by."""

from dataclasses import dataclass
from uuid import UUID

from models.conversions import sale_terms
from models.conversions.sale_terms import SaleTerms
from models.db import db
from models.hot import Hot


@dataclass(frozen=True, slots=True)
class Partner:
    """An affiliate in a program."""

    status: str
    is_test: bool
    terms: SaleTerms


_PARTNER = Hot(f"""
select a.status, a.is_test, {sale_terms.COLUMNS}
from affiliate a
{sale_terms.JOINS}
where a.organization_id = %s and a.program_id = %s and a.id = %s and a.deleted_at is null
""")


def partner(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> Partner | None:
    """Return an affiliate with their terms; None when the program has no such affiliate."""
    row = db.row(_PARTNER, (organization_id, program_id, affiliate_id))
    return Partner(row[0], row[1], SaleTerms(*row[2:])) if row else None
