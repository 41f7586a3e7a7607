"""Assets: texts and images that a brand gives its affiliates, for one program or for all."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from models.conditions import OF_PERSON
from models.db import db
from models.listing import Position
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class Asset:
    """A text, or an image with its size in pixels and its stored file. Without a program it is for all."""

    id: UUID
    organization_id: UUID
    program_id: UUID | None
    kind: str
    name: str
    text: str | None
    file_id: UUID | None
    width: int | None
    height: int | None
    size_bytes: int
    created_at: datetime


class ListedAsset(NamedTuple):
    """An asset in a list, with its brand, its program (None: for all) and the media type of its image."""

    id: UUID
    program_id: UUID | None
    program_name: str | None
    organization_name: str
    kind: str
    name: str
    text: str | None
    content_type: str | None
    width: int | None
    height: int | None
    size_bytes: int
    created_at: datetime


class AssetFile(NamedTuple):
    """The content of an image, with the brand's name for it."""

    name: str
    content_type: str
    content: bytes


_TABLE = Table("asset", Asset)
#: Insert an asset.
insert = _TABLE.insert


_MEASURE_USAGE = "select count(*), coalesce(sum(size_bytes), 0)::bigint from asset where organization_id = %s"


def measure_usage(organization_id: UUID) -> tuple[int, int]:
    """Return how many assets an organization has, and how many bytes they take."""
    row = db.row(_MEASURE_USAGE, (organization_id,))
    assert row is not None
    return row[0], row[1]


_REMOVE = f"delete from asset where organization_id = %s and id = %s returning {_TABLE.columns}"


def remove(*, organization_id: UUID, asset_id: UUID) -> Asset | None:
    """Delete an asset and return it; None when it does not exist. The caller deletes its file."""
    return _TABLE.first(_REMOVE, (organization_id, asset_id))


_COLUMNS = columns(ListedAsset, "s", program_name="p.name", organization_name="o.name", content_type="f.content_type")
_JOINED = """
join organization o on o.id = s.organization_id
left join program p on p.organization_id = s.organization_id and p.id = s.program_id
left join stored_file f on f.organization_id = s.organization_id and f.id = s.file_id
"""
_LISTED = """
  and (%(program)s::uuid is null or s.program_id is null or s.program_id = %(program)s)
  and (%(before)s::timestamptz is null or (s.created_at, s.id) < (%(before)s, %(before_id)s))
order by s.created_at desc, s.id desc limit %(limit)s
"""
_ROWS = Rows(ListedAsset)
_PAGE = f"select {_COLUMNS} from asset s {_JOINED} where s.organization_id = %(org)s {_LISTED}"
_ONE = f"select {_COLUMNS} from asset s {_JOINED} where s.organization_id = %s and s.id = %s"


def page(*, organization_id: UUID, program_id: UUID | None, after: Position | None, limit: int) -> list[ListedAsset]:
    """Return up to `limit` assets, newest first, after a position; with a program also those for all programs."""
    return _ROWS.all(_PAGE, {"org": organization_id} | _page_params(program_id, after, limit))


def find(*, organization_id: UUID, asset_id: UUID) -> ListedAsset | None:
    """Return one asset of the organization as in a list."""
    return _ROWS.first(_ONE, (organization_id, asset_id))


_FILES = Rows(AssetFile)
_FILE_COLUMNS = columns(AssetFile, "f", name="s.name")
_HAS_FILE = "join stored_file f on f.organization_id = s.organization_id and f.id = s.file_id"
_FILE = f"select {_FILE_COLUMNS} from asset s {_HAS_FILE} where s.organization_id = %s and s.id = %s"


def find_file(*, organization_id: UUID, asset_id: UUID) -> AssetFile | None:
    """Return the image of an asset of the organization."""
    return _FILES.first(_FILE, (organization_id, asset_id))


# The unarchived programs in which a person is Approved.
_SEATS = f"""
with seat as materialized (
  select distinct m.organization_id, m.program_id from affiliate m
  join program g on g.organization_id = m.organization_id and g.id = m.program_id
    and g.archived_at is null and g.suspended_at is null
  where {OF_PERSON} and m.status = 'Approved'
)
"""
_OF_SEATS = """
exists (select from seat where seat.organization_id = s.organization_id
  and (s.program_id is null or seat.program_id = s.program_id)
  and (%(program)s::uuid is null or seat.program_id = %(program)s))
"""
_BRANDS = "(select distinct organization_id from seat) brand join asset s on s.organization_id = brand.organization_id"
_ANY_ORG_OWN = f"{_SEATS} select {_COLUMNS} from {_BRANDS} {_JOINED} where {_OF_SEATS} {_LISTED}"
_ANY_ORG_OWN_FILE = f"{_SEATS} select {_FILE_COLUMNS} from asset s {_HAS_FILE} where s.id = %(id)s and {_OF_SEATS}"


def any_org_list_own(
    *, account_id: UUID | None, email: str | None, program_id: UUID | None, after: Position | None, limit: int
) -> list[ListedAsset]:
    """Return up to `limit` assets of the programs in which a person is Approved, newest first, after a position.

    `email` is their verified one, or None. Budget: 1 statement.
    """
    person = {"account": account_id, "email": email}
    return _ROWS.all(_ANY_ORG_OWN, person | _page_params(program_id, after, limit))


def any_org_find_own_file(*, account_id: UUID | None, email: str | None, asset_id: UUID) -> AssetFile | None:
    """Return the image of an asset that `any_org_list_own` returns for this person."""
    return _FILES.first(_ANY_ORG_OWN_FILE, {"account": account_id, "email": email, "id": asset_id, "program": None})


def _page_params(program_id: UUID | None, after: Position | None, limit: int) -> dict[str, object]:
    before, before_id = after or (None, None)
    return {"program": program_id, "before": before, "before_id": before_id, "limit": limit}
