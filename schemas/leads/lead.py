"""The bodies of a lead: signed by the brand's own server, and sent by a page of the brand.

Source: tracking spec, "Lead body" and "Browser lead capture".
"""

from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain.clicks import subid
from domain.refusals import Refused
from schemas.base import MAY_LACK, NEEDED, CleanedLine, Email, Wire, text

_MAX_EVENT_ID_CHARS = 512
_EMAIL = Email()


class LeadBody(Wire):
    """A signed lead. Loads with `affiliate_slug` in lower case, the email unchanged and `sub_id` normalized.

    Refuses with codes, in this order: affiliate_slug_required, email_required, invalid_email.
    """

    affiliate_slug = text(longest=255, load_default=None, allow_none=True, metadata=NEEDED)
    email = text(longest=1024, load_default=None, allow_none=True, metadata=NEEDED)
    name = CleanedLine(longest=255, load_default=None, allow_none=True)
    external_event_id = text(longest=_MAX_EVENT_ID_CHARS, load_default=None, allow_none=True)
    sub_id = text(longest=1024, load_default=None, allow_none=True)
    program_id = fields.UUID(load_default=None, allow_none=True)

    @post_load
    def _settle(self, lead: dict[str, Any], **_: object) -> dict[str, Any]:
        slug, email = _strip(lead["affiliate_slug"]), _strip(lead["email"])
        if slug is None:
            raise Refused(400, "affiliate_slug_required", "affiliateSlug is required.", field="affiliateSlug")
        if email is None:
            raise Refused(400, "email_required", "email is required.", field="email")
        if not _is_email(email):
            raise Refused(400, "invalid_email", "email is not a valid email address.", field="email")
        # A blank event id would make all leads with one the same person.
        event_id = lead["external_event_id"] if _strip(lead["external_event_id"]) else None
        return lead | {
            "affiliate_slug": lead["affiliate_slug"].lower(),
            "email": email,
            "name": _strip(lead["name"]),
            "external_event_id": event_id,
            "sub_id": subid.normalize(lead["sub_id"]),
        }


class BrowserLeadBody(Wire):
    """A lead that a page sends. `programId` is a program's id or slug; `subId` is the tag of the visit."""

    slug = text(longest=255, shortest=1, required=True)
    email = text(longest=1024, required=True)
    name = CleanedLine(longest=255, load_default=None, allow_none=True)
    program_id = text(longest=255, load_default=None, allow_none=True)
    sub_id = text(longest=1024, load_default=None, allow_none=True)

    @post_load
    def _settle(self, lead: dict[str, Any], **_: object) -> dict[str, Any]:
        email = lead["email"].strip()
        _EMAIL.deserialize(email)
        return lead | {
            "slug": lead["slug"].lower(),
            "email": email,
            "name": _strip(lead["name"]),
            "program_id": _strip(lead["program_id"]),
            "sub_id": subid.normalize(lead["sub_id"]),
        }


class LeadAnswer(Wire):
    """`leadId` of a new lead, or `deduped` if the lead is known."""

    ok = fields.Constant(True)
    lead_id = fields.UUID(metadata=MAY_LACK)
    deduped = fields.Constant(True, metadata=MAY_LACK)


class OpaqueAnswer(Wire):
    """The same for every outcome."""

    ok = fields.Constant(True)


def _strip(value: str | None) -> str | None:
    return (value or "").strip() or None


def _is_email(value: str) -> bool:
    try:
        _EMAIL.deserialize(value)
    except ValidationError:
        return False
    return True
