"""Compares what one tenant is answered for a row of another with what it is answered for an unknown id."""

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
# Drawn anew for every answer: the key of a form, and the number of a request.
_FRESH = re.compile(r'name="_key" value="[^"]*"|\b[0-9a-f]{32}\b')
_TABLES = """
select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and not a.attisdropped
order by 1
"""
_FINGERPRINT = "select '{0}', md5(string_agg(t::text, ' ' order by t::text)) from {0} t where organization_id = '{1}'"
# Fields that end as ids do and name something of the caller's own, or of another service.
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


def essence(answer: TestResponse) -> tuple[int, str]:
    """Return status and body of an answer without ids, which are all that two unknown ids may be told apart by."""
    return answer.status_code, _FRESH.sub("", _UUID.sub("ID", answer.data.decode(errors="replace")))


def count_ids(call: Call) -> int:
    """Return how many ids a call names, in its path and its body."""
    return len(_UUID.findall(_text(call)))


def replace_ids(call: Call, places: set[int], others: Call | None = None) -> Call:
    """Return a call with the ids at these places replaced by those of another call, or by unknown ids."""
    instead = _UUID.findall(_text(others)) if others is not None else None
    places_seen = iter(range(count_ids(call)))

    def fill(found: re.Match[str]) -> str:
        place = next(places_seen)
        if place not in places:
            return found[0]
        return str(instead[place]) if instead is not None else str(uuid4())

    path, body = json.loads(_UUID.sub(fill, _text(call)))
    return path, body


def fingerprint(organization_id: UUID) -> dict[str, str]:
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
    """Show transactions the rows of every tenant, so that only the filters of the statements tell tenants apart.

    Row-level security, which would hide that one is lost, has tests of its own (tests/rules/test_tenancy.py).
    """
    usual: Any = db._transaction

    def open_to_all(prelude: str, *args: Any, **options: Any) -> Any:
        return usual(f"{prelude}; set local app.any_org = 'on'", *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "_transaction", open_to_all)
        yield


def id_fields(schema: Schema | None) -> Iterator[str]:
    """Yield the names of the fields in which a body or a query names rows, as they are sent."""
    if schema is None:
        return
    for name, found in schema.fields.items():
        sent, kind = found.data_key or name, found.inner if isinstance(found, fields.List) else found
        if isinstance(kind, fields.Nested):
            yield from id_fields(kind.schema)
        elif sent not in _NO_ROWS and (isinstance(kind, fields.UUID) or re.search("(^i|I)ds?$", sent)):
            yield sent


def _text(call: Call) -> str:
    path, body = call
    return json.dumps([path, body], default=str)
