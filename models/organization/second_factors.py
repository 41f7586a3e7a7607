"""Second factors of people who sign in by email: the sealed secret, and the hashes of unused recovery codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from models.db import db
from models.table import Table


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """The second factor of an email address; it counts from `enabled_at` on, when the first code was entered."""

    email: str
    secret_sealed: bytes
    enabled_at: datetime | None
    last_step: int
    wrong_codes: int
    blocked_until: datetime | None
    created_at: datetime


_TABLE = Table("second_factor", SecondFactor, key=("email",))
_FIND = f"select {_TABLE.columns} from second_factor where email = %s"
_LOCK = f"{_FIND} for update"


def find(email: str) -> SecondFactor | None:
    """Return the second factor of a person, enabled or not."""
    return _TABLE.first(_FIND, (email,))


def lock(email: str) -> SecondFactor | None:
    """Return the second factor of a person, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (email,))


_START = """
insert into second_factor (email, secret_sealed, created_at) values (%s, %s, %s)
on conflict (email) do update set secret_sealed = excluded.secret_sealed, created_at = excluded.created_at
  where second_factor.enabled_at is null
returning 1
"""


def start(*, email: str, secret_sealed: bytes, at: datetime) -> bool:
    """Store the secret of a second factor that is not enabled yet; False if one is enabled already."""
    return bool(db.run(_START, (email, secret_sealed, at)))


def stage_enabled(*, email: str, at: datetime) -> None:
    """Stage that a locked second factor counts from now on."""
    db.stage("update second_factor set enabled_at = %s where email = %s", (at, email))


def stage_right_code(*, email: str, step: int) -> None:
    """Stage that a right code of a locked second factor was entered; `step` is the last used time step."""
    db.stage(
        "update second_factor set last_step = %s, wrong_codes = 0, blocked_until = null where email = %s",
        (step, email),
    )


def stage_wrong_code(*, email: str, wrong_codes: int, blocked_until: datetime | None) -> None:
    """Stage that a wrong code of a locked second factor was entered."""
    db.stage(
        "update second_factor set wrong_codes = %s, blocked_until = %s where email = %s",
        (wrong_codes, blocked_until, email),
    )


def delete(email: str) -> bool:
    """Delete the second factor of a person and its recovery codes; False without one."""
    return bool(db.run("delete from second_factor where email = %s returning 1", (email,)))


def stage_recovery_codes(*, email: str, code_hashes: Sequence[bytes]) -> None:
    """Stage the recovery codes of a person, which replace all former ones."""
    db.stage("delete from recovery_code where email = %s", (email,))
    db.stage("insert into recovery_code (email, code_hash) select %s, unnest(%s::bytea[])", (email, list(code_hashes)))


def use_recovery_code(*, email: str, code_hash: bytes) -> bool:
    """Use a recovery code up; False if it is unknown or used."""
    return bool(db.run("delete from recovery_code where email = %s and code_hash = %s returning 1", (email, code_hash)))


def count_recovery_codes(email: str) -> int:
    """Return how many unused recovery codes a person has."""
    row = db.row("select count(*) from recovery_code where email = %s", (email,))
    assert row is not None
    return int(row[0])
