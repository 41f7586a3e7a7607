"""Organizations, their members and their API keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import peewee
from playhouse.postgres_ext import ArrayField

from models.db import db
from models.table import Moment, Table


class Organization(Table):
    """A tenant: the brand whose affiliates and money these are."""

    id = peewee.UUIDField(primary_key=True)
    name = peewee.TextField()
    slug = peewee.TextField(unique=True)
    plan_tier = peewee.TextField()
    subscription_status = peewee.TextField()
    trial_ends_at = Moment(null=True)
    home_currency = peewee.TextField(default="USD")
    payout_grace_days = peewee.IntegerField(default=30)
    payout_grace_days_max = peewee.IntegerField(default=90)
    gateways = ArrayField(peewee.TextField, default=list, index=False)
    created_at = Moment()


class Member(Table):
    """A person of an organization. Every API key belongs to one; their keys share one rate-limit bucket."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    email = peewee.TextField()
    role = peewee.TextField()
    created_at = Moment()


class ApiKey(Table):
    """A key as it is kept: the hash of the bearer value and the sealed signing secret."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    member_id = peewee.UUIDField()
    name = peewee.TextField()
    scope = peewee.TextField()
    is_test = peewee.BooleanField()
    last_four = peewee.TextField()
    key_hash = peewee.BlobField(unique=True)
    signing_secret_sealed = peewee.BlobField()
    created_at = Moment()
    revoked_at = Moment(null=True)


def any_org_list() -> list[Organization]:
    """Return every organization, oldest first. For the operator."""
    return list(Organization.select().order_by(Organization.created_at))


def find(organization_id: UUID) -> Organization | None:
    """Return the organization of this unit of work."""
    return Organization.get_or_none(Organization.id == organization_id)


def insert(values: Mapping[str, Any]) -> None:
    """Insert an organization."""
    Organization.insert(values).execute()


def update(organization_id: UUID, changes: Mapping[str, Any]) -> bool:
    """Change columns of an organization; False when there is none."""
    return bool(Organization.update(changes).where(Organization.id == organization_id).execute())


def home_currency(organization_id: UUID) -> str:
    """Return the organization's home currency code."""
    row = db.row("select home_currency from organization where id = %s", (organization_id,))
    assert row is not None
    return str(row[0])


def insert_member(values: Mapping[str, Any]) -> None:
    """Insert a member."""
    Member.insert(values).execute()


def find_member(*, organization_id: UUID, email: str | None) -> Member | None:
    """Return the member with this email, or for None the organization's first Owner."""
    members = Member.select().where(Member.organization_id == organization_id)
    members = members.where(Member.email == email) if email else members.where(Member.role == "Owner")
    return members.order_by(Member.created_at, Member.id).first()


def insert_key(values: Mapping[str, Any]) -> None:
    """Insert an API key."""
    ApiKey.insert(values).execute()


def revoke_key(*, organization_id: UUID, key_id: UUID, at: datetime) -> bool:
    """Revoke a key for good; False when there is none that is in force."""
    return bool(
        ApiKey.update(revoked_at=at)
        .where(ApiKey.organization_id == organization_id, ApiKey.id == key_id, ApiKey.revoked_at.is_null())
        .execute()
    )


def any_org_keys(organization_id: UUID | None = None) -> list[ApiKey]:
    """Return API keys, oldest first. For the operator."""
    keys = ApiKey.select().order_by(ApiKey.created_at)
    return list(keys.where(ApiKey.organization_id == organization_id) if organization_id else keys)


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Whom an API key speaks for, and what their organization may do."""

    key_id: UUID
    organization_id: UUID
    member_id: UUID
    scope: str
    is_test: bool
    signing_secret_sealed: bytes
    plan_tier: str
    subscription_status: str
    trial_ends_at: datetime | None
    gateways: tuple[str, ...]


def any_org_key_holder(key_hash: bytes) -> KeyHolder | None:
    """Return whom a key speaks for by the hash of its bearer value; None for unknown and revoked keys."""
    row = db.row(
        "select k.id, k.organization_id, k.member_id, k.scope, k.is_test, k.signing_secret_sealed,"
        " o.plan_tier, o.subscription_status, o.trial_ends_at, o.gateways"
        " from api_key k join organization o on o.id = k.organization_id"
        " where k.key_hash = %s and k.revoked_at is null",
        (key_hash,),
    )
    if row is None:
        return None
    values = list(row)
    values[5] = bytes(values[5])  # psycopg2 brings a memoryview
    values[9] = tuple(values[9])
    return KeyHolder(*values)
