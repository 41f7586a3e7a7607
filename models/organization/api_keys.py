"""API keys: stored as the hash of the bearer value and the sealed signing secret."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key. Its two secrets cannot be recovered from the row without the service's own key."""

    id: UUID
    organization_id: UUID
    member_id: UUID
    name: str
    scope: str
    is_test: bool
    last_four: str
    key_hash: bytes
    signing_secret_sealed: bytes
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None = None


_TABLE = Table("api_key", ApiKey)
#: Insert an API key.
insert = _TABLE.insert


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key without its secrets, with the email of its member."""

    id: UUID
    name: str
    scope: str
    is_test: bool
    last_four: str
    created_by: UUID
    created_by_email: str
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None


_REVOKE = """
update api_key set revoked_at = %s where organization_id = %s and id = %s and revoked_at is null returning id
"""


def revoke(*, organization_id: UUID, key_id: UUID, at: datetime) -> bool:
    """Revoke a key permanently; False when the organization has no such key in force."""
    return bool(db.run(_REVOKE, (at, organization_id, key_id)))


_REVOKE_OF_MEMBER = """
update api_key set revoked_at = %s where organization_id = %s and member_id = %s and revoked_at is null returning id
"""


def revoke_of_member(*, organization_id: UUID, member_id: UUID, at: datetime) -> list[UUID]:
    """Revoke all keys that a member created, and return their ids."""
    return [key_id for (key_id,) in db.run(_REVOKE_OF_MEMBER, (at, organization_id, member_id))]


_LISTED = Rows(ListedKey)
_OF_ORGANIZATION = f"""
select {columns(ListedKey, "k", created_by="k.member_id", created_by_email="m.email")}
from api_key k join member m on m.organization_id = k.organization_id and m.id = k.member_id
where k.organization_id = %s
"""
_FIND = f"{_OF_ORGANIZATION} and k.id = %s"
_LIST = f"{_OF_ORGANIZATION} order by k.revoked_at is not null, k.created_at desc, k.id desc limit %s"


def find(*, organization_id: UUID, key_id: UUID) -> ListedKey | None:
    """Return one key, revoked or not."""
    return _LISTED.first(_FIND, (organization_id, key_id))


@dataclass(frozen=True, slots=True)
class KeyHint:
    """The organization of a key and the key's last characters, by which people recognize it; None: no such key."""

    organization_name: str
    key_hint: str | None


_HINT = """
select o.name, k.last_four
from organization o left join api_key k on k.organization_id = o.id and k.id = %s
where o.id = %s
"""


def find_hint(*, organization_id: UUID, key_id: UUID) -> KeyHint:
    """Return the name of an existing organization, and the hint of its key. Budget: 1 statement."""
    hint = Rows(KeyHint).first(_HINT, (key_id, organization_id))
    assert hint is not None
    return hint


def list_keys(*, organization_id: UUID, limit: int) -> list[ListedKey]:
    """Return keys, those in force first, each group newest first."""
    return _LISTED.all(_LIST, (organization_id, limit))


def count_in_force(organization_id: UUID) -> int:
    """Return how many keys are not revoked."""
    row = db.row("select count(*) from api_key where organization_id = %s and revoked_at is null", (organization_id,))
    assert row is not None
    return int(row[0])


_ANY_ORG_LIST = f"""
select {_TABLE.columns} from api_key where organization_id = coalesce(%s, organization_id) order by created_at, id
"""


def any_org_list(organization_id: UUID | None = None) -> list[ApiKey]:
    """Return API keys, oldest first. For the operator."""
    return _TABLE.all(_ANY_ORG_LIST, (organization_id,))


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The member that an API key authenticates, with their organization's plan. A revoked key authenticates no one."""

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
    revoked_at: datetime | None
    last_used_at: datetime | None


_HOLDERS = Rows(KeyHolder)
_OF_ITS_ORGANIZATION = ("plan_tier", "subscription_status", "trial_ends_at")
_HOLDER = f"""
select {
    columns(
        KeyHolder,
        "k",
        key_id="k.id",
        gateways="o.gateways || o.connected_gateways",
        **{name: f"o.{name}" for name in _OF_ITS_ORGANIZATION},
    )
}
from api_key k join organization o on o.id = k.organization_id
where k.key_hash = %s
"""


def any_org_find_holder(key_hash: bytes) -> KeyHolder | None:
    """Return a key's holder by the hash of its bearer value; None for an unknown key. Budget: 1 statement."""
    return _HOLDERS.first(_HOLDER, (key_hash,))


def stage_last_used(*, organization_id: UUID, key_id: UUID, at: datetime) -> None:
    """Stage the time of a key's last use."""
    db.stage(
        "update api_key set last_used_at = %s where organization_id = %s and id = %s", (at, organization_id, key_id)
    )


#: How many bytes of a key's hash suffice to know that an unknown key does not exist.
HASH_START = 8


def any_org_list_hash_starts() -> frozenset[bytes]:
    """Return the first HASH_START bytes of the hash of every key in force. Budget: 1 statement."""
    rows = db.run("select substr(key_hash, 1, %s) from api_key where revoked_at is null", (HASH_START,))
    return frozenset(bytes(start) for (start,) in rows)
