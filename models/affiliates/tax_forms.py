"""Tax forms: each affiliate's current one."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Table


@dataclass(frozen=True, slots=True)
class TaxForm:
    """A form that was uploaded (`type` and `file_id`), or one that the payout provider holds (neither)."""

    id: UUID
    organization_id: UUID
    affiliate_id: UUID
    type: str | None
    file_id: UUID | None
    held_by_stripe: bool
    submitted_at: datetime


_TABLE = Table("tax_form", TaxForm)
_FIND = f"select {_TABLE.columns} from tax_form where organization_id = %s and affiliate_id = %s"
_REPLACE = """
insert into tax_form (id, organization_id, affiliate_id, type, file_id, held_by_stripe, submitted_at)
values (%(id)s, %(organization_id)s, %(affiliate_id)s, %(type)s, %(file_id)s, %(held_by_stripe)s, %(submitted_at)s)
on conflict (organization_id, affiliate_id) do update set id = excluded.id, type = excluded.type,
  file_id = excluded.file_id, held_by_stripe = excluded.held_by_stripe, submitted_at = excluded.submitted_at
"""


def find(*, organization_id: UUID, affiliate_id: UUID) -> TaxForm | None:
    """Return an affiliate's form."""
    return _TABLE.first(_FIND, (organization_id, affiliate_id))


def stage(form: TaxForm) -> None:
    """Stage a form that replaces the previous one."""
    db.stage(_REPLACE, asdict(form))
