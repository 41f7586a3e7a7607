"""The affiliate of a manual conversion, with the terms that price it."""

from dataclasses import dataclass
from uuid import UUID

from models.conversions import sale_terms
from models.conversions.sale_terms import SaleTerms
from models.prepared_statements import FreshSelect
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class SalesPartner:
    """An affiliate in a program."""

    status: str
    is_test: bool
    terms: SaleTerms


_ROWS = Rows(SalesPartner)
_FIND = FreshSelect(f"""
select {columns(SalesPartner, "a", terms=sale_terms.COLUMNS)}
from affiliate a
{sale_terms.JOINS}
where a.organization_id = %s and a.program_id = %s and a.id = %s and a.deleted_at is null
""")


def find(*, organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> SalesPartner | None:
    """Return an affiliate with their terms; None when the program has no such affiliate."""
    return _ROWS.first(_FIND, (organization_id, program_id, affiliate_id))
