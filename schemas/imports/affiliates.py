"""Affiliates from another service, on the wire.

Source: core spec, "Affiliates" (import body) and "Shared import safeguards".
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from marshmallow import ValidationError, fields, post_load, pre_load, validate

from domain.refused import Refused
from domain.statuses import AffiliateStatus
from schemas.base import Email, Flag, Instant, Wire, one_of, text

_MOST_ROWS = 1000
# An address or a slug that is too long is a row that is skipped, or a slug that is not kept: no reason to refuse all.
_ANY_LENGTH = 100_000
_LONGEST_MESSAGE = 20_000
_STATUSES = {status.value.lower(): status.value for status in AffiliateStatus}


def _loose(**options: Any) -> fields.String:
    return text(longest=_ANY_LENGTH, load_default=None, allow_none=True, **options)


class ImportRow(Wire):
    """An affiliate. Loads to `email` or to the `problem` with it, and what is kept of the rest.

    A malformed wallet address is dropped: nobody can be paid there.
    """

    email = _loose()
    full_name = text(longest=200, load_default=None, allow_none=True)
    status = _loose()
    wallet_email = _loose()
    slug = _loose()

    @post_load
    def _settle(self, row: dict[str, Any], **_: object) -> dict[str, Any]:
        is_missing = not (row["email"] or "").strip()
        email = None if is_missing else _address(row["email"])
        problem = "missing_email" if is_missing else "invalid_email" if email is None else None
        return {
            "email": email,
            "problem": problem,
            "full_name": (row["full_name"] or "").strip(),
            "status": _status(row["status"]),
            "wallet_email": _address(row["wallet_email"] or ""),
            "slug": (row["slug"] or "").strip().lower() or None,
        }


class AffiliateImport(Wire):
    """Up to 1,000 affiliates for one program. `include_statuses` loads to a set, None without one.

    Raises Refused 400: row_cap_exceeded.
    """

    program_id = fields.UUID(required=True)
    affiliates = fields.List(fields.Nested(ImportRow), required=True, validate=validate.Length(min=1))
    include_statuses = fields.List(
        fields.String(), load_default=None, allow_none=True, validate=validate.Length(min=1, max=50)
    )
    notify_affiliates = Flag(load_default=False, allow_none=True)
    notification_message_html = text(longest=_LONGEST_MESSAGE, load_default=None, allow_none=True)

    @pre_load
    def _count(self, sent: Mapping[str, Any], **_: object) -> Mapping[str, Any]:
        rows = sent.get("affiliates")
        if isinstance(rows, list) and len(rows) > _MOST_ROWS:
            message = f"One import takes at most {_MOST_ROWS} rows; this one has {len(rows)}."
            raise Refused(400, "row_cap_exceeded", message, field="affiliates")
        return sent

    @post_load
    def _settle(self, sent: dict[str, Any], **_: object) -> dict[str, Any]:
        wanted = sent["include_statuses"]
        included = None if wanted is None else {_known_status(name, place) for place, name in enumerate(wanted)}
        return sent | {"include_statuses": included, "notify_affiliates": bool(sent["notify_affiliates"])}


class ImportRecord(Wire):
    """What an import came to; `reasons` counts why rows were skipped."""

    wire_name = "ImportResult"

    job_id = fields.UUID(attribute="id")
    status = one_of(("Completed", "Undone"))
    kind = one_of(("Affiliates", "Conversions"))
    total = fields.Integer()
    imported = fields.Integer()
    skipped = fields.Integer()
    errored = fields.Integer()
    reasons = fields.Dict(keys=fields.String(), values=fields.Integer())


class PastImport(ImportRecord):
    """An import in the history; Undone ones keep their numbers."""

    created_at = Instant()
    undone_at = Instant(allow_none=True)


class UndoneImport(PastImport):
    """An import that was undone: how many of its rows went, and how many stayed because they are in use."""

    removed = fields.Integer()
    kept = fields.Integer()


def _address(sent: str) -> str | None:
    with suppress(ValidationError):
        found: str = Email().deserialize(sent)
        return found
    return None


def _status(sent: str | None) -> str:
    if sent is None:
        return AffiliateStatus.Approved.value
    return _STATUSES.get(sent.strip().lower(), AffiliateStatus.Pending.value)


def _known_status(sent: str, place: int) -> str:
    found = _STATUSES.get(sent.strip().lower())
    if found is None:
        raise ValidationError({place: ["There is no such status."]}, "includeStatuses")
    return found
