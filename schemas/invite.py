"""Affiliate invites in the API.

Source: core spec, "Affiliate invites".
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from marshmallow import ValidationError, fields, post_load, pre_load, validates_schema

from domain import invites, slugs, statuses
from domain.conversions.commission import CommissionType
from domain.refusals import Refused
from schemas.base import MAY_LACK, Amount, Email, Flag, Instant, Wire, bearer_secret, line, one_of, rate, text
from schemas.collection_fields import Items
from schemas.paging import PageQuery

#: The code of any fault in the body of an invite.
INVALID_INVITE = "validation_failed"

_MAX_NAME_CHARS = 200
_MAX_NOTE_CHARS = 10_000


def _slug(value: str) -> None:
    if value and not slugs.is_valid_strict(value):
        raise ValidationError("It must be 3 to 64 of a-z, 0-9 and hyphen, without a hyphen at either end.")


def _name() -> fields.String:
    return line(longest=_MAX_NAME_CHARS, load_default="", allow_none=True)


class _Invitation(Wire):
    """The common fields of single and bulk invites."""

    program_id = fields.UUID(required=True)
    personal_note_html = text(longest=_MAX_NOTE_CHARS, load_default=None, allow_none=True)
    # Invited affiliates are approved by default; the brand opts out to review them.
    auto_approve = Flag(load_default=True, allow_none=True)


class InviteBody(_Invitation):
    """A new invite. Loads to columns by name."""

    email = Email(required=True)
    full_name = _name()
    slug = text(longest=64, load_default=None, allow_none=True, validate=[_slug])
    custom_commission_type = one_of(CommissionType, load_default=None, allow_none=True)
    custom_commission_value = rate(load_default=None, allow_none=True)

    @validates_schema
    def _check_pair(self, body: dict[str, Any], **_: object) -> None:
        is_type_missing, is_value_missing = (
            body.get(name) is None for name in ("custom_commission_type", "custom_commission_value")
        )
        if is_type_missing != is_value_missing:
            missing = "customCommissionType" if is_type_missing else "customCommissionValue"
            raise ValidationError("customCommissionType and customCommissionValue must be sent together.", missing)

    @post_load
    def _fill(self, invite: dict[str, Any], **_: object) -> dict[str, Any]:
        return _with_auto_approve(invite) | {"full_name": _strip(invite["full_name"]), "slug": invite["slug"] or None}


class RecipientBody(Wire):
    """One recipient of a bulk invite. An unavailable slug is a conflict and not an error, so any text is accepted."""

    email = Email(required=True)
    full_name = _name()
    slug = fields.String(load_default=None, allow_none=True)

    @post_load
    def _fill(self, recipient: dict[str, Any], **_: object) -> dict[str, Any]:
        return recipient | {"full_name": _strip(recipient["full_name"])}


class BulkInviteBody(_Invitation):
    """Many invites with one note. Loads to `program_id`, `personal_note_html`, `auto_approve` and `recipients`."""

    recipients = Items(fields.Nested(RecipientBody()), most=invites.MAX_RECIPIENTS, load_default=None, allow_none=True)
    emails = Items(Email(), most=invites.MAX_RECIPIENTS, load_default=None, allow_none=True)

    @pre_load
    def _choose(self, body: Mapping[str, Any], **_: object) -> Mapping[str, Any]:
        # The other field is ignored; too long a list is refused before its items are loaded.
        chosen = "emails" if body.get("recipients") is None and body.get("emails") is not None else "recipients"
        batch = body.get(chosen)
        if batch is None or (isinstance(batch, list) and not 1 <= len(batch) <= invites.MAX_RECIPIENTS):
            raise ValidationError(f"It must have 1 to {invites.MAX_RECIPIENTS} recipients.", chosen)
        ignored = "recipients" if chosen == "emails" else "emails"
        return {name: value for name, value in body.items() if name != ignored}

    @post_load
    def _fill(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        emails = body.pop("emails") or []
        recipients = body["recipients"] or [{"email": email, "full_name": "", "slug": None} for email in emails]
        return _with_auto_approve(body) | {"recipients": recipients}


def _with_auto_approve(invite: dict[str, Any]) -> dict[str, Any]:
    return invite | {"auto_approve": invite["auto_approve"] is not False}


def _strip(name: str | None) -> str:
    return (name or "").strip()


def invite_refusal(error: ValidationError) -> Refused:
    """Return the refusal that names the first field at fault: `email`, `recipients[3].email`."""
    field, message = _first(error.normalized_messages())
    return Refused(400, INVALID_INVITE, message, field=field.removesuffix("._schema"))


def _first(messages: Any, path: str = "") -> tuple[str, str]:
    if isinstance(messages, dict):
        name, inner = next(iter(messages.items()))
        step = f"[{name}]" if isinstance(name, int) else f".{name}" if path else str(name)
        return _first(inner, f"{path}{step}")
    return path, str(messages[0])


class InviteRecord(Wire):
    """An invite as the API shows it; never its token."""

    id = fields.UUID()
    program_id = fields.UUID()
    program_name = fields.String()
    email = fields.String()
    full_name = fields.String()
    slug = fields.String(allow_none=True)
    state = one_of(invites.InviteState)
    expires_at = Instant()
    sent_at = Instant(allow_none=True)
    accepted_at = Instant(allow_none=True)
    affiliate_id = fields.UUID(allow_none=True)
    auto_approve = fields.Boolean()
    custom_commission_type = one_of(CommissionType, allow_none=True)
    custom_commission_value = Amount(allow_none=True)
    personal_note_html = fields.String(allow_none=True)
    created_at = Instant()


class NewInvite(Wire):
    """An invite with its accept link, which is shown only once."""

    invite = fields.Nested(InviteRecord)
    accept_url = bearer_secret(
        found_at="It is in the invitation email; a person can send that again under Invites on the dashboard."
    )


class SlugConflict(Wire):
    """A recipient whose slug is unavailable; they are invited without it."""

    email = fields.String()
    requested_slug = fields.String()
    reason = fields.String()


class BulkAnswer(Wire):
    """The result of a bulk invite."""

    wire_name = "InvitesAnswer"

    created = fields.Integer()
    skipped = fields.Integer()
    invites = fields.List(fields.Nested(InviteRecord))
    slug_conflicts = fields.List(fields.Nested(SlugConflict))


class InvitePreview(Wire):
    """The brand, the program and the invite for a visitor with the link."""

    organization_name = fields.String()
    program_name = fields.String()
    program_description = fields.String(allow_none=True)
    default_commission_type = one_of(CommissionType)
    default_commission_value = Amount()
    default_commission_model = one_of(statuses.CommissionModel)
    custom_commission_type = one_of(CommissionType, allow_none=True)
    custom_commission_value = Amount(allow_none=True)
    email = fields.String()
    full_name = fields.String()
    personal_note_html = fields.String(allow_none=True)
    state = one_of(invites.InviteState)
    expires_at = Instant()


class InviteAcceptance(Wire):
    """The result of accepting an invite; `warning` is present if the slug of the invite was unavailable."""

    affiliate_id = fields.UUID()
    program_id = fields.UUID()
    status = one_of(statuses.AffiliateStatus)
    slug = fields.String()
    warning = fields.String(metadata=MAY_LACK)


class InvitesQuery(PageQuery):
    """The list of invites, optionally of one program or in one state."""

    program_id = fields.UUID(load_default=None)
    state = one_of(invites.InviteState, load_default=None)


_RECORD = InviteRecord()


def invite_record(invite: Any, *, now: datetime) -> dict[str, Any]:
    """Return an invite as the API shows it at time `now`."""
    record: dict[str, Any] = _RECORD.dump(invite)
    return record | {"state": invites.state_at(invite.state, expires_at=invite.expires_at, now=now).value}
