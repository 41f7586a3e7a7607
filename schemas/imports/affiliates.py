"""Affiliates from another service, in the API.

Source: core spec, "Affiliates" (import body) and "Shared import safeguards".
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain.imports import column_mapping, files
from domain.imports.rows import BadRow
from domain.imports.warnings import RowWarning
from domain.refusals import Refused
from domain.statuses import AffiliateStatus
from schemas.base import CleanedLine, Email, Flag, Instant, Wire, one_of, text
from schemas.collection_fields import Items
from schemas.imports.common import (
    CommissionBalance,
    ImportJobWarning,
    ImportPreview,
    MappedFile,
    import_file,
    import_rows,
    parse_rows,
    too_many_rows,
)
from schemas.paging import PageQuery

# A row with too long an address is skipped, and too long a slug is dropped; neither refuses the whole import.
_ANY_LENGTH = 100_000
_MAX_MESSAGE_CHARS = 20_000
_MAX_STATUSES = 50
_STATUSES = {status.value.lower(): status.value for status in AffiliateStatus}


def _loose(**options: Any) -> fields.String:
    return text(longest=_ANY_LENGTH, load_default=None, allow_none=True, **options)


class ImportRow(Wire):
    """An affiliate. Loads to `email` or the `problem` with it, the other columns, and `warnings`.

    A malformed wallet address is dropped, since payouts to it would fail.
    """

    email = _loose()
    full_name = CleanedLine(longest=200, load_default=None, allow_none=True)
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
            "warnings": _warnings(row),
        }


class AffiliatePreview(MappedFile):
    """A preview of up to 1,000 affiliates for one program, in `affiliates` or in the text of a `file`.

    `include_statuses` loads to a set, None without one; a file to its rows, with `lines` and its `form`.
    Raises Refused 400: row_cap_exceeded.
    """

    program_id = fields.UUID(required=True)
    affiliates = import_rows(fields.Nested(ImportRow), "affiliates")
    file = import_file()
    include_statuses = Items(fields.String(), most=_MAX_STATUSES, least=1, load_default=None, allow_none=True)

    def too_many_items(self, max_count: int) -> Refused | None:
        return too_many_rows("affiliates") if max_count > files.MAX_ROWS else None

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        names = body["include_statuses"]
        included = None if names is None else {_known_status(name, index) for index, name in enumerate(names)}
        parsed = parse_rows(body, "affiliates", files.parse_affiliates, column_mapping.PERSON_WORDS)
        if parsed["form"] is not None:
            parsed["affiliates"] = [_load_file_row(values) for values in parsed["affiliates"]]
        return body | parsed | {"include_statuses": included}


class AffiliateImport(AffiliatePreview):
    """Up to 1,000 affiliates for one program, and whether they get an email."""

    notify_affiliates = Flag(load_default=False, allow_none=True)
    notification_message_html = text(longest=_MAX_MESSAGE_CHARS, load_default=None, allow_none=True)

    @post_load
    def _decide(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        return body | {"notify_affiliates": bool(body["notify_affiliates"])}


class AffiliateImportPreview(ImportPreview):
    """The preview of an import. `wouldSkip` also counts invalid rows, which do not block others."""


class ImportTally(Wire):
    """The numbers of an import; `reasons` counts why rows were skipped. `source` is the service of conversions.

    `switchId` is set if a switch from another system brought the rows.
    """

    job_id = fields.UUID(attribute="id")
    status = one_of(("Completed", "Undone"))
    kind = one_of(("Affiliates", "Conversions"))
    total = fields.Integer()
    imported = fields.Integer()
    skipped = fields.Integer()
    errored = fields.Integer()
    reasons = fields.Dict(keys=fields.String(), values=fields.Integer())
    warning_count = fields.Integer()
    source = fields.String(allow_none=True)
    switch_id = fields.UUID(allow_none=True)


class ImportResultRecord(ImportTally):
    """The result of an import, with the values that differ from its rows."""

    warnings = fields.List(fields.Nested(ImportJobWarning))


class PastImport(ImportTally):
    """An import in the history; Undone ones keep their numbers."""

    created_at = Instant()
    undone_at = Instant(allow_none=True)


class ImportDetail(PastImport):
    """An import in the history, with its warnings."""

    warnings = fields.List(fields.Nested(ImportJobWarning))


class ImportsQuery(PageQuery):
    """The filters of imports: kind and status."""

    kind = one_of(("Affiliates", "Conversions"), load_default=None)
    status = one_of(("Completed", "Undone"), load_default=None)


class UndoneImport(PastImport):
    """An undone import: how many of its rows were removed, and how many stayed because they are in use."""

    removed = fields.Integer()
    kept = fields.Integer()


class HeldBack(Wire):
    """How many conversions of an import block its undoing, and why; `switch`: 1 if a switch brought them."""

    refunded = fields.Integer()
    overridden = fields.Integer()
    paid = fields.Integer()
    switch = fields.Integer()


class ImportUndoPreview(Wire):
    """The effect of undoing an import now. `taken_back` is owed for its conversions, and would no longer be."""

    job_id = fields.UUID()
    status = one_of(("Completed", "Undone"))
    kind = one_of(("Affiliates", "Conversions"))
    is_possible = fields.Boolean()
    would_remove = fields.Integer()
    would_keep = fields.Integer()
    taken_back = fields.List(fields.Nested(CommissionBalance))
    held_back = fields.Nested(HeldBack)


def _load_file_row(values: Mapping[str, object] | BadRow) -> dict[str, Any]:
    """Return a row of a file as a JSON row loads; an invalid one has a `problem` and blocks no others."""
    code = values.code if isinstance(values, BadRow) else "invalid_row"
    with suppress(ValidationError):
        if not isinstance(values, BadRow):
            loaded: dict[str, Any] = ImportRow().load(values)
            return loaded
    return ImportRow().load({}) | {"problem": code}


def _address(text: str) -> str | None:
    with suppress(ValidationError):
        address: str = Email().deserialize(text)
        return address
    return None


def _status(text: str | None) -> str:
    if text is None:
        return AffiliateStatus.Approved.value
    return _STATUSES.get(text.strip().lower(), AffiliateStatus.Pending.value)


def _warnings(row: Mapping[str, Any]) -> list[RowWarning]:
    warnings = []
    if row["status"] is not None and row["status"].strip().lower() not in _STATUSES:
        warnings.append(RowWarning("unknown_status", row["status"].strip(), _status(row["status"])))
    if (row["wallet_email"] or "").strip() and _address(row["wallet_email"]) is None:
        warnings.append(RowWarning("invalid_wallet_email"))
    return warnings


def _known_status(text: str, index: int) -> str:
    status = _STATUSES.get(text.strip().lower())
    if status is None:
        raise ValidationError({index: ["There is no such status."]}, "includeStatuses")
    return status
