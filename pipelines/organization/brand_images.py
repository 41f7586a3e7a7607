"""A brand's logo and favicon: stored in the database, one of each."""

from datetime import datetime
from uuid import UUID

from models import ids, stored_files
from models.organization import organizations
from models.organization.organizations import Organization
from models.stored_files import StoredFile

MAX_BYTES = 1024 * 1024


def store(organization: Organization, kind: str, *, content: bytes, content_type: str, now: datetime) -> Organization:
    """Store a checked image as the locked organization's logo or favicon (`kind`), replacing the former.

    Returns the organization after it.
    """
    file_id = ids.new_id()
    stored_files.insert(StoredFile(file_id, organization.id, kind, content_type, content, now))
    return _set_file(organization, kind, file_id)


def remove(organization: Organization, kind: str) -> Organization | None:
    """Remove the locked organization's logo or favicon and return the organization; None if it has no such image."""
    return _set_file(organization, kind, None) if _current_file(organization, kind) else None


def _set_file(organization: Organization, kind: str, file_id: UUID | None) -> Organization:
    changed = organizations.change(organization, {f"{kind}_file_id": file_id})
    former_id = _current_file(organization, kind)
    if former_id is not None:
        stored_files.stage_delete(organization_id=organization.id, file_id=former_id)
    return changed


def _current_file(organization: Organization, kind: str) -> UUID | None:
    return organization.logo_file_id if kind == "logo" else organization.favicon_file_id
