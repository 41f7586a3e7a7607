"""A brand's logo and favicon: checked, kept in the database, one of each."""

from datetime import datetime
from uuid import UUID

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


def keep(organization: Organization, kind: str, *, content: bytes, content_type: str, now: datetime) -> Organization:
    """Make an image that was checked the locked organization's logo or favicon (`kind`), in place of the former.

    Returns the organization as it is now.
    """
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
    return _pointed(organization, kind, file_id)


def drop(organization: Organization, kind: str) -> Organization | None:
    """Take the locked organization's logo or favicon away and return it as it is now; None when it has none."""
    return _pointed(organization, kind, None) if _former(organization, kind) else None


def _pointed(organization: Organization, kind: str, file_id: UUID | None) -> Organization:
    changed = organizations.change(organization, {f"{kind}_file_id": file_id})
    former = _former(organization, kind)
    if former is not None:
        stored_files.stage_delete(organization_id=organization.id, file_id=former)
    return changed


def _former(organization: Organization, kind: str) -> UUID | None:
    return organization.logo_file_id if kind == "logo" else organization.favicon_file_id
