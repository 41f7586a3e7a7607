"""Compares the responses that a tenant gets for another tenant's row and for an unknown id."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from marshmallow import Schema, fields
from werkzeug.test import TestResponse

from models import db
from tests.support import databases

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Random values that differ in every response: the key of a form, and the id of a request.
_RANDOM = re.compile(r'name="_key" value="[^"]*"|\b[0-9a-f]{32}\b')
_TABLES = """
select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and not a.attisdropped
order by 1
"""
_FINGERPRINT = "select '{0}', md5(string_agg(t::text, ' ' order by t::text)) from {0} t where organization_id = '{1}'"
# Fields whose names end like ids but that hold values of the caller or of another service.
_NO_ROWS = {
    "actorUserId",  # of an identity provider
    "connectedAccountId",
    "customerId",
    "externalEventId",
    "externalId",
    "externalTransactionId",
    "processorCustomerId",
    "processorSubscriptionId",
    "recipientId",
    "subId",
    "visitorId",
}

Call = tuple[str, Any]  # a path and a body


def without_ids(response: TestResponse) -> tuple[int, str]:
    """Return the status and the body of a response without ids and random values."""
    return response.status_code, _RANDOM.sub("", _UUID.sub("ID", response.data.decode(errors="replace")))


def count_ids(call: Call) -> int:
    """Return the number of ids in the path and the body of a call."""
    return len(_UUID.findall(_to_text(call)))


def replace_ids(call: Call, positions: set[int], other_call: Call | None = None) -> Call:
    """Return a call with the ids at these positions replaced by those of another call, or by unknown ids."""
    replacements = _UUID.findall(_to_text(other_call)) if other_call is not None else None
    next_positions = iter(range(count_ids(call)))

    def replace(match: re.Match[str]) -> str:
        position = next(next_positions)
        if position not in positions:
            return match[0]
        return str(replacements[position]) if replacements is not None else str(uuid4())

    path, body = json.loads(_UUID.sub(replace, _to_text(call)))
    return path, body


def hash_rows(organization_id: UUID) -> dict[str, str]:
    """Return a hash of the rows of an organization by table."""
    with databases.owner_cursor(os.environ["DATABASE_OWNER_URL"]) as cursor:
        cursor.execute(_TABLES)
        tables = [name for (name,) in cursor.fetchall()]
        cursor.execute(" union all ".join(_FINGERPRINT.format(table, organization_id) for table in tables))
        hashes = {table: digest for table, digest in cursor.fetchall() if digest is not None}
    assert len(hashes) >= 2
    return hashes


@contextmanager
def without_row_security() -> Iterator[None]:
    """Show the rows of every tenant to all transactions, so that only the filters of the statements separate tenants.

    Row-level security would hide a missing filter; tests/rules/test_tenancy.py tests it.
    """
    usual: Any = db._transaction

    def run_for_all_tenants(prelude: str, *args: Any, **options: Any) -> Any:
        return usual(f"{prelude}; set local app.any_org = 'on'", *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "_transaction", run_for_all_tenants)
        yield


def id_fields(schema: Schema | None) -> Iterator[str]:
    """Yield the JSON names of the fields that hold row ids in a body or a query."""
    if schema is None:
        return
    for name, field in schema.fields.items():
        json_name, kind = field.data_key or name, field.inner if isinstance(field, fields.List) else field
        if isinstance(kind, fields.Nested):
            yield from id_fields(kind.schema)
        elif json_name not in _NO_ROWS and (isinstance(kind, fields.UUID) or re.search("(^i|I)ds?$", json_name)):
            yield json_name


def _to_text(call: Call) -> str:
    path, body = call
    return json.dumps([path, body], default=str)
