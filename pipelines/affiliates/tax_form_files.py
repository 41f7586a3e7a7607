"""Tax forms: stored sealed, opened by a link that is valid for five minutes.

Source: core spec, "Affiliate" (tax form).
"""

import base64
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters.secret_key import file_links, sealing
from domain.refusals import Refused, not_found
from models import ids, stored_files
from models.affiliates import affiliates, tax_forms
from models.affiliates.tax_forms import TaxForm
from models.stored_files import StoredFile

MAX_BYTES = 5 * 1024 * 1024

# The first bytes of a file decide its type, not its name.
_MAGIC = {b"%PDF-": "application/pdf", b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_EXTENSIONS = {"application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpg"}


@dataclass(frozen=True, slots=True)
class OpenedForm:
    """A form's file as it was uploaded."""

    content: bytes
    content_type: str
    name: str


@dataclass(frozen=True, slots=True)
class StoredForm:
    """A form on file, and the organization of its affiliate."""

    form: TaxForm
    organization_id: UUID


def signed_url(form: TaxForm, *, now: datetime) -> str:
    """Return the link that opens a stored form."""
    assert form.file_id is not None  # a form held by the provider has no link
    return file_links.build_url(form.file_id, now=now)


def any_org_open(file_id: UUID) -> OpenedForm:
    """Return a form's file; the caller has checked the link. Raises Refused 404."""
    file = stored_files.any_org_find_tax_form(file_id)
    if file is None:
        raise Refused(404)
    # Not through the cache of sealed secrets: a form is opened rarely and must not stay in memory.
    content = base64.b64decode(sealing.unseal.__wrapped__(file.content, belongs_to=str(file_id)))
    return OpenedForm(content, file.content_type, f"tax-form.{_EXTENSIONS[file.content_type]}")


def any_org_store(*, affiliate_id: UUID, type: str, content: bytes, now: datetime) -> StoredForm:
    """Store a form in place of the previous one.

    Raises Refused: 404 not_found; 413 payload_too_large; 400 unsupported_file.
    """
    organization_id = _find_owner(affiliate_id)
    content_type = _content_type(content)
    file_id = ids.new_id()
    sealed = sealing.seal(base64.b64encode(content).decode(), belongs_to=str(file_id))
    stored_files.insert(StoredFile(file_id, organization_id, "tax_form", content_type, sealed, now))
    return _replace(organization_id, affiliate_id, type=type, file_id=file_id, now=now)


def any_org_record_at_provider(*, affiliate_id: UUID, now: datetime) -> StoredForm:
    """Record that the payout provider holds the form, and delete our file. Raises Refused 404 not_found."""
    return _replace(_find_owner(affiliate_id), affiliate_id, type=None, file_id=None, now=now)


def _replace(
    organization_id: UUID, affiliate_id: UUID, *, type: str | None, file_id: UUID | None, now: datetime
) -> StoredForm:
    affiliates.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    before = tax_forms.find(organization_id=organization_id, affiliate_id=affiliate_id)
    form = TaxForm(
        id=ids.new_id(),
        organization_id=organization_id,
        affiliate_id=affiliate_id,
        type=type,
        file_id=file_id,
        held_by_stripe=file_id is None,
        submitted_at=now,
    )
    tax_forms.stage(form)
    if before is not None and before.file_id is not None:
        stored_files.stage_delete(organization_id=organization_id, file_id=before.file_id)
    return StoredForm(form, organization_id)


def _find_owner(affiliate_id: UUID) -> UUID:
    organization_id = affiliates.any_org_find_organization(affiliate_id)
    if organization_id is None:
        raise not_found("affiliate", affiliate_id)
    return organization_id


def _content_type(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise Refused(413, "payload_too_large", f"A tax form has at most {MAX_BYTES // 1024**2} MB.")
    for magic, content_type in _MAGIC.items():
        if content.startswith(magic):
            return content_type
    raise Refused(400, "unsupported_file", "A tax form is a PDF, PNG or JPEG file.")
