"""Tax forms: the one in force of each affiliate."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db


@dataclass(frozen=True, slots=True)
class TaxForm:
    """A form that was sent to us (`type` and `file_id`), or a form that the payout provider holds (neither)."""

    id: UUID
    organization_id: UUID
    affiliate_id: UUID
    type: str | None
    file_id: UUID | None
    held_by_stripe: bool
    submitted_at: datetime


_COLUMNS = tuple(TaxForm.__dataclass_fields__)
_KEY = ("organization_id", "affiliate_id")


def find(*, organization_id: UUID, affiliate_id: UUID) -> TaxForm | None:
    """Return an affiliate's form."""
    row = db.row(
        f"select {', '.join(_COLUMNS)} from tax_form where organization_id = %s and affiliate_id = %s",
        (organization_id, affiliate_id),
    )
    return TaxForm(*row) if row else None


def stage(form: TaxForm) -> None:
    """Stage a form in the place of the one before."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS if name not in _KEY)
    db.stage(
        f"insert into tax_form ({', '.join(_COLUMNS)}) values ({', '.join(['%s'] * len(_COLUMNS))})"
        f" on conflict (organization_id, affiliate_id) do update set {changes}",
        tuple(getattr(form, name) for name in _COLUMNS),
    )
