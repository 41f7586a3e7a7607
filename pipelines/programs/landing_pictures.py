"""The pictures of landing pages: an organization has several, its programs refer to them, unused ones are deleted."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.landing_limits import MAX_PICTURE_BYTES
from domain.organization import images
from domain.organization.images import Image
from domain.refusals import Refused
from models import advisory_locks, ids, stored_files
from models.stored_files import StoredFile

# An organization may try several pictures before it saves a page.
_MAX_UNUSED = 20


def stage_lock(organization_id: UUID, fields: Mapping[str, Any]) -> None:
    """Stage the lock of landing pictures if the sent fields name one: it is not deleted meanwhile."""
    if _picture_id(fields) is not None:
        advisory_locks.stage_landing_pictures_lock(organization_id)


def check(organization_id: UUID, fields: Mapping[str, Any]) -> None:
    """Check that the organization has the picture that is named. Raises Refused 400 hero_image_not_found."""
    file_id = _picture_id(fields)
    if file_id is not None and not stored_files.has_hero(organization_id=organization_id, file_id=file_id):
        message = f"There is no picture {file_id} for landing pages. Upload it first."
        raise Refused(400, "hero_image_not_found", message, field="landingPageConfig")


def store(*, organization_id: UUID, content: bytes, image: Image, now: datetime) -> UUID:
    """Insert a checked picture and return its id. Only the newest of the unused pictures are kept."""
    advisory_locks.stage_landing_pictures_lock(organization_id)
    file_id = ids.new_id()
    stored_files.insert(StoredFile(file_id, organization_id, "hero", image.content_type, content, now))
    stored_files.stage_delete_unused_heroes(organization_id, keep=_MAX_UNUSED)
    return file_id


def check_image(content: bytes, *, declared_type: str | None) -> Image:
    """Return type and size of a picture. Raises Refused: 413 payload_too_large; 400 invalid_image."""
    return images.check(content, declared_type=declared_type, max_bytes=MAX_PICTURE_BYTES)


def _picture_id(fields: Mapping[str, Any]) -> UUID | None:
    page = fields.get("landing_page_config")
    return UUID(page["heroImageId"]) if page and page["heroImageId"] else None
