"""Small files of organizations, stored in the database so that they survive the loss of a machine."""

from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from models.db import db
from models.table import Table

# The pictures of a brand that are public.
_PUBLIC_KINDS = ["logo", "favicon", "hero"]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of an organization: `content_type` is its media type. Content that is private is sealed."""

    id: UUID
    organization_id: UUID
    kind: str
    content_type: str
    content: bytes
    created_at: datetime


_TABLE = Table("stored_file", StoredFile)


def insert(file: StoredFile) -> None:
    """Insert a file."""
    _TABLE.insert(asdict(file))


_DELETE = """
delete from stored_file where organization_id = %s and id = %s
"""


def stage_delete(*, organization_id: UUID, file_id: UUID) -> None:
    """Stage the delete of a file that no row refers to any more."""
    db.stage(_DELETE, (organization_id, file_id))


_ANY_ORG_FIND = f"""
select {_TABLE.columns} from stored_file where id = %s and kind = any(%s)
"""


def any_org_find_public(file_id: UUID) -> StoredFile | None:
    """Return a public file, or None."""
    return _TABLE.first(_ANY_ORG_FIND, (file_id, _PUBLIC_KINDS))


_HAS_HERO = "select from stored_file where organization_id = %s and id = %s and kind = 'hero'"


def has_hero(*, organization_id: UUID, file_id: UUID) -> bool:
    """Return whether a file is a landing page picture of this organization."""
    return bool(db.run(_HAS_HERO, (organization_id, file_id)))


_DELETE_UNUSED = """
delete from stored_file f
using (select id from stored_file where organization_id = %(org)s and kind = 'hero'
  and not exists (select from program p where p.organization_id = %(org)s and p.hero_file_id = stored_file.id)
  order by created_at desc, id desc offset %(keep)s) unused
where f.organization_id = %(org)s and f.id = unused.id
"""


def stage_delete_unused_heroes(organization_id: UUID, *, keep: int) -> None:
    """Stage the delete of pictures that no landing page uses, except the newest `keep` of them."""
    db.stage(_DELETE_UNUSED, {"org": organization_id, "keep": keep})


def any_org_find_tax_form(file_id: UUID) -> StoredFile | None:
    """Return a tax form, sealed, for the bearer of a signed link, or None."""
    return _TABLE.first(_ANY_ORG_FIND, (file_id, ["tax_form"]))
