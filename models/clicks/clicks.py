"""Clicks: visits that a tracking link brought, whatever came of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import peewee
from playhouse.postgres_ext import ArrayField

from models.db import db
from models.mutable import Moment, Table


class Click(Table):
    """One visit. The visitor is known by a keyed hash; a duplicate is kept and never earns."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    program_id = peewee.UUIDField()
    affiliate_id = peewee.UUIDField()
    slug = peewee.TextField()
    sub_id = peewee.TextField(null=True)
    visitor_hash = peewee.BlobField(null=True)
    network_hash = peewee.BlobField(null=True)
    occurred_at = Moment()
    is_duplicate = peewee.BooleanField(default=False)
    score = peewee.IntegerField(default=0)
    reasons = ArrayField(peewee.TextField, index=False, null=True)
    outcome = peewee.TextField(default="recorded")
    conversion_id = peewee.UUIDField(null=True)
    created_at = Moment()


def insert_many(rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert clicks in one statement; one whose id is known already is left as it is."""
    if rows:
        Click.insert_many(rows).on_conflict(action="IGNORE").as_rowcount().execute()


def any_org_forget_hashes(*, before: datetime, limit: int) -> int:
    """Forget by whom up to `limit` clicks from before a moment were made, the oldest first; returns how many."""
    rows = db.run(
        "update click set visitor_hash = null, network_hash = null where id in (select id from click"
        " where occurred_at < %s and (visitor_hash is not null or network_hash is not null)"
        " order by occurred_at limit %s for update skip locked) returning 1",
        (before, limit),
    )
    return len(rows)


def any_org_forget_letters(*, names: Sequence[str], queue: str, before: datetime) -> None:
    """Put nobody in the place of who made the clicks in dead letters from before a moment; each can still be written.

    What is in one is the text of `raw_click.to_bytes`, or nonsense. Of a visitor the letter keeps their program.
    """
    db.stage(
        "update job set args = args || jsonb_build_object('is_forgotten', 'yes', 'entry',"
        " regexp_replace(regexp_replace(regexp_replace(args ->> 'entry',"
        r""" '"visitor_id":"([^"\\]|\\.)*"', '"visitor_id":null'),"""
        """ '"visitor":"[0-9a-f]*"', '"visitor":"' || replace(gen_random_uuid()::text, '-', '') || '"'),"""
        """ '"network":"[0-9a-f]*"', '"network":"' || replace(gen_random_uuid()::text, '-', '') || '"'))"""
        " where queue = %s and failed_at < %s and name = any(%s) and not args ? 'is_forgotten'",
        (queue, before, list(names)),
    )
