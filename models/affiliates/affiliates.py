"""Affiliates: partners of a brand. Their links are in `models.affiliates.links`."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import peewee
from playhouse.postgres_ext import ArrayField

from models.db import db
from models.listing import Listing, Position
from models.mutable import Moment, Table, rate


class Affiliate(Table):
    """A partner in one program of one organization."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    program_id = peewee.UUIDField()
    email = peewee.TextField()
    email_normalized = peewee.TextField()
    full_name = peewee.TextField(default="")
    status = peewee.TextField()
    custom_commission_type = peewee.TextField(null=True)
    custom_commission_value = rate(null=True)
    custom_commission_currency = peewee.TextField(null=True)
    partner_group_id = peewee.UUIDField(null=True)
    account_id = peewee.UUIDField(null=True)
    recruited_by_affiliate_id = peewee.UUIDField(null=True)
    tags = ArrayField(peewee.TextField, default=list, index=False)
    notes = peewee.TextField(default="")
    source = peewee.TextField()
    application_data = peewee.JSONField(null=True)
    rejection_reason = peewee.TextField(null=True)
    wallet_email = peewee.TextField(null=True)
    payout_method = peewee.TextField(null=True)
    payout_destination = peewee.TextField(null=True)
    import_job_id = peewee.UUIDField(null=True)
    is_test = peewee.BooleanField(default=False)
    applied_at = Moment()
    approved_at = Moment(null=True)
    created_at = Moment()
    deleted_at = Moment(null=True)


_SHOWN = (
    "id",
    "program_id",
    "email",
    "full_name",
    "status",
    "custom_commission_type",
    "custom_commission_value",
    "partner_group_id",
    "tags",
    "notes",
    "source",
    "rejection_reason",
    "application_data",
    "is_test",
    "applied_at",
    "approved_at",
    "created_at",
)
_IDS = ("id", "program_id", "partner_group_id")
_LISTING = Listing("affiliate", _SHOWN, ids=_IDS, condition="deleted_at is null")
# A statement that is planned once uses the index of those who wait only when it names the status itself.
_WAITING = Listing("affiliate", _SHOWN, ids=_IDS, condition="deleted_at is null and status = 'Pending'")


def insert(values: Mapping[str, Any]) -> bool:
    """Insert an affiliate; False when the program has one with this email."""
    return (
        Affiliate.insert(values)
        .on_conflict(
            action="IGNORE",
        )
        .as_rowcount()
        .execute()
        == 1
    )


def update(*, organization_id: UUID, affiliate_id: UUID, changes: Mapping[str, Any]) -> bool:
    """Change columns of an affiliate; False when the organization has none with this id."""
    return bool(
        Affiliate.update(changes)
        .where(Affiliate.organization_id == organization_id, Affiliate.id == affiliate_id)
        .execute()
    )


def find(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate | None:
    """Return one affiliate of the organization."""
    return _living(organization_id).where(Affiliate.id == affiliate_id).first()


def lock(*, organization_id: UUID, affiliate_id: UUID) -> Affiliate | None:
    """Return one affiliate of the organization, locked until the transaction ends."""
    wanted = _living(organization_id).where(Affiliate.id == affiliate_id)
    found: Affiliate | None = wanted.for_update("FOR NO KEY UPDATE").first()
    return found


def has_group(*, organization_id: UUID, program_id: UUID, group_id: UUID) -> bool:
    """Say whether a program has this partner group."""
    return bool(
        db.run(
            "select from partner_group where organization_id = %s and program_id = %s and id = %s",
            (organization_id, program_id, group_id),
        )
    )


def stage_steady_program(*, organization_id: UUID, program_id: UUID) -> None:
    """Keep the terms and the groups of a program as they are until the transaction ends.

    It comes before any other lock, and before the program is read.
    """
    db.stage("select from program where organization_id = %s and id = %s for share", (organization_id, program_id))


def find_by_email(*, organization_id: UUID, program_id: UUID, email: str) -> Affiliate | None:
    """Return the affiliate of a program with this email."""
    return _living(organization_id).where(Affiliate.program_id == program_id, Affiliate.email == email).first()


def page(
    *, organization_id: UUID, program_id: UUID | None, after: Position | None, limit: int, skip: int = 0
) -> list[Any]:
    """Return up to `limit` affiliates, newest first, after the keyset position `after` (or after `skip` rows)."""
    where = {"program_id": program_id}
    return _LISTING.page(organization_id=organization_id, where=where, after=after, limit=limit, skip=skip)


def pending(*, organization_id: UUID, program_id: UUID | None, limit: int, skip: int) -> list[Any]:
    """Return up to `limit` affiliates who wait for a decision, newest first, after `skip` of them."""
    where = {"program_id": program_id}
    return _WAITING.page(organization_id=organization_id, where=where, limit=limit, skip=skip)


def any_org_owner(affiliate_id: UUID) -> UUID | None:
    """Return the organization of an affiliate. For the operator."""
    row = db.row("select organization_id from affiliate where id = %s and deleted_at is null", (affiliate_id,))
    return row[0] if row else None


def any_org_has_account(*, email: str, program_id: UUID) -> bool:
    """Say whether this email is an affiliate's anywhere in the service. The answer goes to the applicant alone.

    An application to `program_id` itself does not count, so the first and the repeated one are told the same.
    """
    return bool(
        db.run(
            "select from affiliate where email = %s and deleted_at is null"
            " and not (program_id = %s and source = 'Public') limit 1",
            (email, program_id),
        )
    )


def _living(organization_id: UUID) -> Any:
    return Affiliate.select().where(Affiliate.organization_id == organization_id, Affiliate.deleted_at.is_null())
