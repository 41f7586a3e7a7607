"""The pictures of landing pages: an organization has several, its programs name them, and what none names ends."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.landing_limits import MAX_PICTURE_BYTES
from domain.organization import images
from domain.organization.images import Image
from domain.refusals import Refused
from models import advisory_locks, ids, stored_files

# Whoever sets a page up may try a few.
_UNUSED_KEPT = 20


def stage_turn(organization_id: UUID, sent: Mapping[str, Any]) -> None:
    """Stage the lock of what is `sent` of a program, if that names a picture: it does not end meanwhile."""
    if _named(sent) is not None:
        advisory_locks.stage_landing_pictures_lock(organization_id)


def check(organization_id: UUID, sent: Mapping[str, Any]) -> None:
    """Refuse a picture that the organization does not have. Raises Refused 400 hero_image_not_found."""
    named = _named(sent)
    if named is not None and not stored_files.has_hero(organization_id=organization_id, file_id=named):
        message = f"There is no picture {named} for landing pages. Upload it first."
        raise Refused(400, "hero_image_not_found", message, field="landingPageConfig")


def keep(*, organization_id: UUID, content: bytes, image: Image, now: datetime) -> UUID:
    """Keep a picture that was checked, and return its id. Of those that no page names only the newest are kept."""
    advisory_locks.stage_landing_pictures_lock(organization_id)
    file_id = ids.new_id()
    stored_files.insert(
        {
            "id": file_id,
            "organization_id": organization_id,
            "kind": "hero",
            "content_type": image.content_type,
            "content": content,
            "created_at": now,
        }
    )
    stored_files.stage_delete_unused_heroes(organization_id, keep=_UNUSED_KEPT)
    return file_id


def read(content: bytes, *, declared_type: str | None) -> Image:
    """Return what a picture is. Raises Refused: 413 payload_too_large; 400 invalid_image."""
    return images.check(content, declared_type=declared_type, max_bytes=MAX_PICTURE_BYTES)


def _named(sent: Mapping[str, Any]) -> UUID | None:
    page = sent.get("landing_page_config")
    return UUID(page["heroImageId"]) if page and page["heroImageId"] else None
