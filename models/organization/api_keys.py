"""API keys, as they are kept: the hash of the bearer value and the sealed signing secret."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import peewee

from models.db import db
from models.organization.members import Member
from models.table import Moment, Table


class ApiKey(Table):
    """A key. Its two secrets cannot be read back from here without the service's own key."""

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


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a key may be shown, with the email of the member it belongs to."""

    id: UUID
    name: str
    scope: str
    is_test: bool
    last_four: str
    created_by: UUID
    created_by_email: str
    created_at: datetime
    revoked_at: datetime | None


def insert(values: Mapping[str, Any]) -> None:
    """Insert an API key."""
    ApiKey.insert(values).execute()


def revoke(*, organization_id: UUID, key_id: UUID, at: datetime) -> bool:
    """Revoke a key for good; False when there is none that is in force."""
    return bool(
        ApiKey.update(revoked_at=at)
        .where(ApiKey.organization_id == organization_id, ApiKey.id == key_id, ApiKey.revoked_at.is_null())
        .execute()
    )


def find(*, organization_id: UUID, key_id: UUID) -> Shown | None:
    """Return one key, revoked or not."""
    found: tuple[Any, ...] | None = _shown(organization_id).where(ApiKey.id == key_id).first()
    return Shown(*found) if found else None


def listed(*, organization_id: UUID, limit: int) -> list[Shown]:
    """Return keys, those in force first, newest first among each."""
    in_order = (ApiKey.revoked_at.is_null(False), ApiKey.created_at.desc(), ApiKey.id.desc())
    return [Shown(*row) for row in _shown(organization_id).order_by(*in_order).limit(limit)]


def count_in_force(organization_id: UUID) -> int:
    """Return how many keys are not revoked."""
    row = db.row("select count(*) from api_key where organization_id = %s and revoked_at is null", (organization_id,))
    assert row is not None
    return int(row[0])


def stage_turn(organization_id: UUID) -> None:
    """Let only one transaction at a time add keys to this organization."""
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"api keys:{organization_id}",))


def any_org_list(organization_id: UUID | None = None) -> list[ApiKey]:
    """Return API keys, oldest first. For the operator."""
    keys = ApiKey.select().order_by(ApiKey.created_at)
    return list(keys.where(ApiKey.organization_id == organization_id) if organization_id else keys)


@dataclass(frozen=True, slots=True)
class Holder:
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


@dataclass(frozen=True, slots=True)
class Revoked:
    """A key that speaks for nobody any more."""

    key_id: UUID


def any_org_holder(key_hash: bytes) -> Holder | Revoked | None:
    """Return whom a key speaks for by the hash of its bearer value; None for an unknown one. Budget: 1 statement."""
    row = db.row(
        "select k.id, k.organization_id, k.member_id, k.scope, k.is_test, k.signing_secret_sealed,"
        " o.plan_tier, o.subscription_status, o.trial_ends_at, o.gateways, k.revoked_at is not null"
        " from api_key k join organization o on o.id = k.organization_id where k.key_hash = %s",
        (key_hash,),
    )
    if row is None:
        return None
    *values, is_revoked = row
    if is_revoked:
        return Revoked(values[0])
    values[5] = bytes(values[5])  # psycopg2 brings a memoryview
    values[9] = tuple(values[9])
    return Holder(*values)


#: How much of a key's hash tells it from all others, for whoever only wants to know that it is not there.
HASH_START = 8


def any_org_starts_in_force() -> frozenset[bytes]:
    """Return the first HASH_START bytes of the hash of every key in force. Budget: 1 statement."""
    rows = db.run("select substr(key_hash, 1, %s) from api_key where revoked_at is null", (HASH_START,))
    return frozenset(bytes(start) for (start,) in rows)


def _shown(organization_id: UUID) -> Any:
    belongs = (Member.organization_id == ApiKey.organization_id) & (Member.id == ApiKey.member_id)
    columns = (
        ApiKey.id,
        ApiKey.name,
        ApiKey.scope,
        ApiKey.is_test,
        ApiKey.last_four,
        ApiKey.member_id,
        Member.email,
        ApiKey.created_at,
        ApiKey.revoked_at,
    )
    keys = ApiKey.select(*columns).join(Member, on=belongs).where(ApiKey.organization_id == organization_id)
    return keys.tuples()
