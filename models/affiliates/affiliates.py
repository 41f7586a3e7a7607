"""Affiliates: partners of a brand. Lists of them are in `lists`, their links in `tracking_links`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from models.db import Json, db
from models.table import Table


@dataclass(frozen=True, slots=True)
class Affiliate:
    """A partner in one program of one organization. Defaults are the same as the table's."""

    id: UUID
    organization_id: UUID
    program_id: UUID
    email: str
    email_normalized: str
    status: str
    source: str
    applied_at: datetime
    created_at: datetime
    full_name: str = ""
    custom_commission_type: str | None = None
    custom_commission_value: Decimal | None = None
    custom_commission_currency: str | None = None
    partner_group_id: UUID | None = None
    account_id: UUID | None = None
    recruited_by_affiliate_id: UUID | None = None
    tags: tuple[str, ...] = ()
    notes: str = ""
    application_data: Mapping[str, Any] | None = None
    # When they first submitted the second step of the form, and when they were last emailed about it.
    application_completed_at: datetime | None = None
    application_asked_at: datetime | None = None
    rejection_reason: str | None = None
    rejection_mailed_at: datetime | None = None
    wallet_email: str | None = None
    payout_method: str | None = None
    payout_destination: str | None = None
    import_job_id: UUID | None = None
    is_test: bool = False
    approved_at: datetime | None = None
    deleted_at: datetime | None = None


_TABLE = Table("affiliate", Affiliate)
_LIVING = f"select {_TABLE.columns} from affiliate where organization_id = %s and deleted_at is null"
_FIND = f"{_LIVING} and id = %s"
_LOCK = f"{_FIND} for no key update"
_FIND_BY_EMAIL = f"{_LIVING} and program_id = %s and email = %s"


def insert(values: Mapping[str, Any]) -> Affiliate | None:
    """Insert an affiliate and return them; None when the program has one with this email."""
    return _TABLE.insert_returning(_to_columns(values))


def stage_all(rows: Sequence[Mapping[str, Any]]) -> None:
    """Stage the insert of affiliates with the same columns in one statement; the caller ensures that they are new."""
    _TABLE.stage_inserts([_to_columns(row) for row in rows])


_TAGS = """
update affiliate a set tags = array(select jsonb_array_elements_text(r.value))
from jsonb_each(%s) r where a.organization_id = %s and a.id = r.key::uuid
"""


def stage_tags(*, organization_id: UUID, tags: Mapping[UUID, Sequence[str]]) -> None:
    """Stage the tags of new affiliates, by their ids, in one statement."""
    if tags:
        values = {str(affiliate_id): list(texts) for affiliate_id, texts in tags.items()}
        db.stage(_TAGS, (Json(values), organization_id))


def change(affiliate: Affiliate, changes: Mapping[str, Any]) -> Affiliate:
    """Change columns of a locked affiliate and return them as they are now."""
    different = {name: value for name, value in changes.items() if getattr(affiliate, name) != value}
    return _TABLE.update_locked(affiliate, _to_columns(different))


def find(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate | None:
    """Return one affiliate of the organization."""
    return _TABLE.first(_FIND, (organization_id, affiliate_id))


def lock(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate | None:
    """Return one affiliate of the organization, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, affiliate_id))


def find_by_email(*, organization_id: UUID, program_id: UUID, email: str) -> Affiliate | None:
    """Return the affiliate of a program with this email."""
    return _TABLE.first(_FIND_BY_EMAIL, (organization_id, program_id, email))


_HAS_GROUP = "select from partner_group where organization_id = %s and program_id = %s and id = %s"


def has_group(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> bool:
    """Return whether a program has this partner group."""
    return bool(db.run(_HAS_GROUP, (organization_id, program_id, group_id)))


def stage_program_share_lock(*, organization_id: UUID, program_id: UUID) -> None:
    """Stage a shared lock that keeps a program's terms and groups unchanged until the transaction ends.

    Take it before any other lock, and before the program is read.
    """
    db.stage("select from program where organization_id = %s and id = %s for share", (organization_id, program_id))


def any_org_find_organization(affiliate_id: UUID) -> UUID | None:
    """Return the organization of an affiliate. For the operator."""
    row = db.row("select organization_id from affiliate where id = %s and deleted_at is null", (affiliate_id,))
    return row[0] if row else None


_ANY_ORG_HAS_ACCOUNT = """
select from affiliate where email = %s and deleted_at is null and not (program_id = %s and source = 'Public') limit 1
"""


def any_org_has_account(*, email: str, program_id: UUID) -> bool:
    """Return whether this email belongs to an affiliate of any organization. Only the applicant may see the answer.

    An application to `program_id` itself does not count, so a repeated application gets the same answer as the first.
    """
    return bool(db.run(_ANY_ORG_HAS_ACCOUNT, (email, program_id)))


def _to_columns(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return column values in the form that the database takes."""
    answers = values.get("application_data")
    return values if answers is None else {**values, "application_data": Json(answers)}
