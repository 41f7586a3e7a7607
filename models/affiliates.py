"""Affiliates and their tracking links."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

import peewee
from playhouse.postgres_ext import ArrayField

from models.db import db
from models.table import Moment, Table, rate


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
    partner_group_id = peewee.UUIDField(null=True)
    recruited_by_affiliate_id = peewee.UUIDField(null=True)
    tags = ArrayField(peewee.TextField, default=list, index=False)
    notes = peewee.TextField(default="")
    source = peewee.TextField()
    application_data = peewee.JSONField(null=True)
    is_test = peewee.BooleanField(default=False)
    applied_at = Moment()
    approved_at = Moment(null=True)
    created_at = Moment()
    deleted_at = Moment(null=True)


class TrackingLink(Table):
    """A slug that names an affiliate in one program."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    program_id = peewee.UUIDField()
    affiliate_id = peewee.UUIDField()
    slug = peewee.TextField()
    custom_alias = peewee.TextField(null=True)
    is_default = peewee.BooleanField()
    format = peewee.TextField(default="Short")
    created_at = Moment()
    deleted_at = Moment(null=True)


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


def find_by_email(*, organization_id: UUID, program_id: UUID, email: str) -> Affiliate | None:
    """Return the affiliate of a program with this email."""
    return _living(organization_id).where(Affiliate.program_id == program_id, Affiliate.email == email).first()


def page(
    *, organization_id: UUID, program_id: UUID | None, after: tuple[datetime, UUID] | None, limit: int, skip: int = 0
) -> list[Affiliate]:
    """Return up to `limit` affiliates, newest first, after the keyset position `after` (or after `skip` rows)."""
    affiliates = _living(organization_id)
    if program_id is not None:
        affiliates = affiliates.where(Affiliate.program_id == program_id)
    if after is not None:
        affiliates = affiliates.where(peewee.Tuple(Affiliate.created_at, Affiliate.id) < peewee.Tuple(*after))
    elif skip:
        affiliates = affiliates.offset(skip)
    return list(affiliates.order_by(Affiliate.created_at.desc(), Affiliate.id.desc()).limit(limit))


def links(*, organization_id: UUID, affiliate_ids: Iterable[UUID]) -> dict[UUID, list[TrackingLink]]:
    """Return the links of several affiliates in one statement, the default link of each first."""
    rows = (
        TrackingLink.select()
        .where(
            TrackingLink.organization_id == organization_id,
            TrackingLink.affiliate_id.in_(list(affiliate_ids)),
            TrackingLink.deleted_at.is_null(),
        )
        .order_by(TrackingLink.is_default.desc(), TrackingLink.created_at)
    )
    found: dict[UUID, list[TrackingLink]] = {}
    for link in rows:
        found.setdefault(link.affiliate_id, []).append(link)
    return found


def insert_link(values: Mapping[str, Any]) -> bool:
    """Insert a tracking link; False when its program has one with this slug."""
    return bool(TrackingLink.insert(values).on_conflict(action="IGNORE").as_rowcount().execute() == 1)


def stage_person_turn(*, organization_id: UUID, email: str) -> None:
    """Let only one transaction at a time decide about this person in this organization."""
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"person:{organization_id}:{email}",))


def lock_slug(*, organization_id: UUID, slug: str) -> None:
    """Let only one transaction at a time decide who gets this slug in this organization."""
    db.run("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"slug:{organization_id}:{slug}",))


def is_slug_of_somebody_else(*, organization_id: UUID, slug: str, email: str) -> bool:
    """Say whether a link with this slug belongs to an affiliate with another email."""
    return bool(
        db.run(
            "select from tracking_link l join affiliate a on a.organization_id = l.organization_id"
            " and a.id = l.affiliate_id where l.organization_id = %s and l.slug = %s and l.deleted_at is null"
            " and a.email <> %s limit 1",
            (organization_id, slug, email),
        )
    )


def slug_of(*, organization_id: UUID, email: str) -> str | None:
    """Return the default slug that this person has in another campaign of the organization already."""
    row = db.row(
        "select l.slug from tracking_link l join affiliate a on a.organization_id = l.organization_id"
        " and a.id = l.affiliate_id where a.organization_id = %s and a.email = %s and a.deleted_at is null"
        " and l.is_default and l.deleted_at is null order by l.created_at limit 1",
        (organization_id, email),
    )
    return row[0] if row else None


def find_recruiter(*, organization_id: UUID, program_id: UUID, reference: str) -> Affiliate | None:
    """Return the Approved affiliate of a program that an id or a link slug names."""
    by_reference = Affiliate.id.in_(
        TrackingLink.select(TrackingLink.affiliate_id).where(
            TrackingLink.organization_id == organization_id,
            TrackingLink.program_id == program_id,
            TrackingLink.slug == reference.lower(),
            TrackingLink.deleted_at.is_null(),
        )
    )
    with suppress(ValueError):  # a slug may look like an id, so an id is looked for as well and not instead
        by_reference = by_reference | (Affiliate.id == UUID(reference))
    return (
        _living(organization_id)
        .where(Affiliate.program_id == program_id, Affiliate.status == "Approved", by_reference)
        .first()
    )


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
