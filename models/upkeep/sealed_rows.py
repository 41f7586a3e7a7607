"""The sealed values in the database, by kind: to find those sealed with a former key and reseal them.

`adapters.secret_key.sealing` opens them; a kind defines their rows and the context that each value is bound to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from models.db import db


@dataclass(frozen=True, slots=True)
class SealedKind:
    """One kind of sealed value. `key` names the columns that order its rows, `sealed` and `belongs_to` are expressions.

    `write` is the assignment that stores a sealed value; `at_once` is how many rows are read and locked together.
    """

    name: str
    table: str
    key: tuple[str, ...]
    sealed: str
    belongs_to: str
    where: str
    write: str
    at_once: int = 200


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row with a sealed value: its key, the value, and the context that it is bound to."""

    key: tuple[Any, ...]
    sealed: bytes
    belongs_to: str


def _column(name: str, table: str, column: str, *, where: str = "true", at_once: int = 200) -> SealedKind:
    return SealedKind(
        name=name,
        table=table,
        key=("organization_id", "id"),
        sealed=column,
        belongs_to="id::text",
        where=f"{column} is not null and {where}",
        write=f"{column} = %s",
        at_once=at_once,
    )


#: All kinds; a test searches for columns and seals that are missing here.
KINDS = (
    _column("signing secrets of API keys", "api_key", "signing_secret_sealed"),
    _column("secrets of webhook endpoints", "webhook_endpoint", "secret_sealed"),
    _column("bodies of messages", "mail_message", "body_sealed"),
    _column("tax forms", "stored_file", "content", where="kind = 'tax_form'", at_once=4),
    _column("addresses of connections", "gateway_connection", "token_sealed"),
    _column("credentials of connections", "gateway_connection", "credentials_sealed"),
    _column("secrets made for connections", "gateway_connection", "made_sealed"),
    _column("former credentials of connections", "gateway_connection", "former_sealed"),
    _column("credentials of web pixels to delete", "web_pixel", "credentials_sealed"),
    _column("credentials of platforms", "platform_connection", "credentials_sealed"),
    _column("credentials of switches", "switch", "credentials_sealed"),
    SealedKind(
        name="refresh tokens of sessions",
        table="web_session",
        key=("id_hash",),
        sealed="refresh_sealed",
        belongs_to="encode(id_hash, 'hex')",
        where="refresh_sealed is not null",
        write="refresh_sealed = %s",
    ),
    SealedKind(
        name="secrets of second factors",
        table="second_factor",
        key=("email",),
        sealed="secret_sealed",
        belongs_to="'second factor of ' || email",
        where="true",
        write="secret_sealed = %s",
    ),
    SealedKind(
        name="stored answers",
        table="stored_answer",
        key=("organization_id", "scope", "key"),
        sealed="body",
        belongs_to="concat_ws(' ', organization_id, scope, key)",
        where="body is not null",
        write="body = %s",
    ),
    SealedKind(
        name="sealed arguments of jobs",
        table="job",
        key=("id",),
        sealed="decode(args ->> 'sealed', 'base64')",
        belongs_to="name",
        where="args ? 'sealed'",
        write="args = jsonb_set(args, '{sealed}', to_jsonb(translate(encode(%s, 'base64'), E'\\n', '')))",
    ),
)


_SLICE = """
select {kind.sealed} as value, {kind.belongs_to} as owner, {key} from {kind.table}
where {kind.where} {onwards}
order by {key} limit {kind.at_once} {lock}
"""


def any_org_read_slice(kind: SealedKind, *, after: tuple[Any, ...] | None, is_to_change: bool) -> list[SealedRow]:
    """Return the next rows of a kind by key; an empty list after the last one.

    Rows that are to be changed are locked until the transaction ends, skipping rows locked by others.
    """
    key = ", ".join(kind.key)
    onwards = f"and ({key}) > %s" if after is not None else ""
    lock = "for no key update skip locked" if is_to_change else ""
    statement = _SLICE.format(kind=kind, key=key, onwards=onwards, lock=lock)
    rows = db.run(statement, (after,) if after is not None else ())
    return [SealedRow(tuple(key), bytes(sealed), belongs_to) for sealed, belongs_to, *key in rows]


_STAGE_SEALED = """
update {kind.table} set {kind.write} where ({key}) = %s
"""


def any_org_stage_sealed(kind: SealedKind, *, key: Sequence[Any], sealed: bytes) -> None:
    """Stage a sealed value for a locked row."""
    statement = _STAGE_SEALED.format(kind=kind, key=", ".join(kind.key))
    db.stage(statement, (sealed, tuple(key)))
