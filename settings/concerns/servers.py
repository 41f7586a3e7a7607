"""Where the data lies, and the key that seals it."""

from dataclasses import dataclass
from pathlib import Path

from settings.parsers import listed, path, text
from settings.table import BadSetting, Concern, setting

SHORTEST_SECRET_KEY = 32


def _secret_key(raw: str) -> str:
    if len(raw) < SHORTEST_SECRET_KEY:
        raise ValueError(f"is shorter than {SHORTEST_SECRET_KEY} characters; make a longer one")
    return raw


def _former_keys(raw: str) -> tuple[str, ...]:
    keys = listed(raw)
    if any(len(key) < SHORTEST_SECRET_KEY for key in keys):
        raise ValueError(
            f"has a key of fewer than {SHORTEST_SECRET_KEY} characters; it takes former SECRET_KEYs, whole and with "
            "commas between them"
        )
    return keys


@dataclass(frozen=True, slots=True)
class Servers(Concern):
    """PostgreSQL, Redis, the data folder, and the key that seals secrets in the database."""

    database_url: str | None = setting(
        "DATABASE_URL",
        text,
        None,
        "PostgreSQL 15 or newer. Migrating makes the role `finderfee_app`; another login needs"
        " `grant finderfee_app to …`",
        shown="embedded",
        is_secret=True,
    )
    database_owner_url: str | None = setting(
        "DATABASE_OWNER_URL",
        text,
        None,
        "who owns the tables, for `flask db migrate` and `make test`",
        shown="`DATABASE_URL`",
        is_secret=True,
    )
    redis_url: str | None = setting(
        "REDIS_URL", text, None, "Redis 6 or Valkey, `maxmemory-policy noeviction`", shown="embedded", is_secret=True
    )
    secret_key: str | None = setting(
        "SECRET_KEY",
        _secret_key,
        None,
        "seals signing secrets and cursors; required with `DATABASE_URL`",
        shown="made in `DATA_DIR`",
        is_secret=True,
    )
    former_secret_keys: tuple[str, ...] = setting(
        "SECRET_KEY_PREVIOUS",
        _former_keys,
        (),
        "former SECRET_KEYs, with commas between them: what they sealed and signed is still believed; see"
        " `flask secrets` and the runbook",
        is_secret=True,
    )
    data_dir: Path = setting(
        "DATA_DIR", path, Path(".data").resolve(), "the embedded servers, the demo, metrics", shown="`.data`"
    )

    def check(self) -> None:
        """Refuse a database without a key, and a former key that is in force. Never with a value."""
        if self.database_url and not self.secret_key:
            raise BadSetting(
                "SECRET_KEY is not set. It seals the signing secrets in the database: make one with "
                "`python -c 'import secrets; print(secrets.token_hex(32))'`, keep it, and give every process the same."
            )
        if self.secret_key in self.former_secret_keys:
            raise BadSetting("SECRET_KEY_PREVIOUS names SECRET_KEY itself; it takes former keys, SECRET_KEY a new one")
