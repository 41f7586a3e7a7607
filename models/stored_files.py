"""Files that are small and must outlive a machine."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import peewee

from models.db import db
from models.mutable import Moment, Table

# What anybody may see of a brand.
_PUBLIC_KINDS = ["logo", "favicon"]


class StoredFile(Table):
    """A file of an organization. Content that is private is sealed."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    kind = peewee.TextField()
    content_type = peewee.TextField()
    content = peewee.BlobField()
    created_at = Moment()


def insert(values: Mapping[str, Any]) -> None:
    """Insert a file."""
    StoredFile.insert(values).execute()


def stage_delete(*, organization_id: UUID, file_id: UUID) -> None:
    """Stage the end of a file that nothing refers to any more."""
    db.stage("delete from stored_file where organization_id = %s and id = %s", (organization_id, file_id))


def any_org_public(file_id: UUID) -> tuple[str, bytes] | None:
    """Return media type and content of a file that anybody may see, or None."""
    row = db.row(
        "select content_type, content from stored_file where id = %s and kind = any(%s)", (file_id, _PUBLIC_KINDS)
    )
    return (row[0], bytes(row[1])) if row else None


def any_org_tax_form(file_id: UUID) -> tuple[str, bytes] | None:
    """Return media type and sealed content of a tax form, for callers whom a signed link speaks for, or None."""
    row = db.row("select content_type, content from stored_file where id = %s and kind = 'tax_form'", (file_id,))
    return (row[0], bytes(row[1])) if row else None
