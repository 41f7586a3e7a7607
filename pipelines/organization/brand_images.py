"""A brand's logo and favicon: checked, kept in the database, one of each."""

from datetime import datetime

from domain.organization import images
from domain.refused import Refused
from models import ids, stored_files
from models.organization import organizations
from models.organization.organizations import Organization

MAX_BYTES = 1024 * 1024

_LEAST_PIXELS = 16
_MOST_PIXELS = 4096


def check(content: bytes, *, declared_type: str | None) -> images.Image:
    """Return what an image is. `declared_type` is the media type it was sent as, None when nobody said.

    Raises Refused: 413 payload_too_large; 400 invalid_image for what is not one of the four kinds, was sent as
    another one, or is too small or too large to show.
    """
    if len(content) > MAX_BYTES:
        raise Refused(413, "payload_too_large", f"An image takes at most {MAX_BYTES} bytes.")
    image = images.read(content)
    if image is None or declared_type not in (None, image.content_type):
        kinds = ", ".join(images.CONTENT_TYPES)
        raise Refused(400, "invalid_image", f"The content must be an image of the type it is sent as: {kinds}.")
    if not all(_LEAST_PIXELS <= size <= _MOST_PIXELS for size in (image.width, image.height)):
        message = (
            f"Width and height must be {_LEAST_PIXELS} to {_MOST_PIXELS} pixels, not {image.width} by {image.height}."
        )
        raise Refused(400, "invalid_image", message)
    return image


def keep(organization: Organization, kind: str, *, content: bytes, content_type: str, now: datetime) -> None:
    """Make an image that was checked the locked organization's logo or favicon (`kind`), in place of the former."""
    file_id = ids.new_id()
    stored_files.insert(
        {
            "id": file_id,
            "organization_id": organization.id,
            "kind": kind,
            "content_type": content_type,
            "content": content,
            "created_at": now,
        }
    )
    _point(organization, kind, file_id)


def drop(organization: Organization, kind: str) -> bool:
    """Take the locked organization's logo or favicon away; False when it has none."""
    if getattr(organization, _column(kind)) is None:
        return False
    _point(organization, kind, None)
    return True


def _point(organization: Organization, kind: str, file_id: object) -> None:
    column = _column(kind)
    former = getattr(organization, column)
    organizations.update(organization.id, {column: file_id})
    if former is not None:
        stored_files.stage_delete(organization_id=organization.id, file_id=former)
    setattr(organization, column, file_id)


def _column(kind: str) -> str:
    return f"{kind}_file_id"
