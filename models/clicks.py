"""Clicks: visits that a tracking link brought, whatever came of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import peewee

from models.table import Moment, Table


class Click(Table):
    """One visit. The visitor is known by a keyed hash; a duplicate is kept and never earns."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    program_id = peewee.UUIDField()
    affiliate_id = peewee.UUIDField()
    slug = peewee.TextField()
    sub_id = peewee.TextField(null=True)
    visitor_hash = peewee.BlobField(null=True)
    occurred_at = Moment()
    is_duplicate = peewee.BooleanField(default=False)
    score = peewee.IntegerField(default=0)
    outcome = peewee.TextField(default="recorded")
    created_at = Moment()


def insert_many(rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert clicks in one statement; one whose id is known already is left as it is."""
    if rows:
        Click.insert_many(rows).on_conflict(action="IGNORE").as_rowcount().execute()
