"""Affiliates from another service, on the wire.

Source: core spec, "Affiliates" (import body) and "Shared import safeguards".
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain.imports import files
from domain.imports.rows import BadRow
from domain.imports.warnings import RowWarning
from domain.refused import Refused
from domain.statuses import AffiliateStatus
from schemas.base import CleanedLine, Email, Flag, Instant, Wire, one_of, text
from schemas.bounded import Items
from schemas.imports.sent import (
    CommissionBalance,
    ImportPreview,
    ImportWarning,
    import_file,
    import_rows,
    rows_of,
    too_many_rows,
)
from schemas.paging import PageQuery

# An address or a slug that is too long is a row that is skipped, or a slug that is not kept: no reason to refuse all.
_ANY_LENGTH = 100_000
_LONGEST_MESSAGE = 20_000
_MOST_STATUSES = 50
_STATUSES = {status.value.lower(): status.value for status in AffiliateStatus}


def _loose(**options: Any) -> fields.String:
    return text(longest=_ANY_LENGTH, load_default=None, allow_none=True, **options)


class ImportRow(Wire):
    """An affiliate. Loads to `email` or to the `problem` with it, what is kept of the rest, and `warnings`.

    A malformed wallet address is dropped: nobody can be paid there.
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


class AffiliatePreview(Wire):
    """Up to 1,000 affiliates for one program, in `affiliates` or in the text of a `file`, to be looked at.

    `include_statuses` loads to a set, None without one; a file to its rows, with `lines` and its `form`.
    Raises Refused 400: row_cap_exceeded.
    """

    program_id = fields.UUID(required=True)
    affiliates = import_rows(fields.Nested(ImportRow), "affiliates")
    file = import_file()
    include_statuses = Items(fields.String(), most=_MOST_STATUSES, least=1, load_default=None, allow_none=True)

    def too_many_items(self, max_count: int) -> Refused | None:
        return too_many_rows("affiliates") if max_count > files.MAX_ROWS else None

    @post_load
    def _settle(self, sent: dict[str, Any], **_: object) -> dict[str, Any]:
        wanted = sent["include_statuses"]
        included = None if wanted is None else {_known_status(name, place) for place, name in enumerate(wanted)}
        read = rows_of(sent, "affiliates", files.parse_affiliates)
        if read["form"] is not None:
            read["affiliates"] = [_of_file(values) for values in read["affiliates"]]
        return sent | read | {"include_statuses": included}


class AffiliateImport(AffiliatePreview):
    """Up to 1,000 affiliates for one program, and whether they are written to."""

    notify_affiliates = Flag(load_default=False, allow_none=True)
    notification_message_html = text(longest=_LONGEST_MESSAGE, load_default=None, allow_none=True)

    @post_load
    def _decide(self, sent: dict[str, Any], **_: object) -> dict[str, Any]:
        return sent | {"notify_affiliates": bool(sent["notify_affiliates"])}


class AffiliateImportPreview(ImportPreview):
    """What an import of these rows would come to. `wouldSkip` counts wrong rows too: they hold back no others."""


class ImportTally(Wire):
    """What an import came to; `reasons` counts why rows were skipped. `source` is the service of conversions."""

    wire_name = "ImportTally"

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


class ImportRecord(ImportTally):
    """What an import came to, with what it did otherwise than its rows say."""

    wire_name = "ImportResult"

    warnings = fields.List(fields.Nested(ImportWarning))


class PastImport(ImportTally):
    """An import in the history; Undone ones keep their numbers."""

    created_at = Instant()
    undone_at = Instant(allow_none=True)


class DetailedImport(PastImport):
    """An import in the history, with its warnings."""

    wire_name = "ImportDetail"

    warnings = fields.List(fields.Nested(ImportWarning))


class ImportsQuery(PageQuery):
    """Which imports: of this kind, with this status."""

    kind = one_of(("Affiliates", "Conversions"), load_default=None)
    status = one_of(("Completed", "Undone"), load_default=None)


class UndoneImport(PastImport):
    """An import that was undone: how many of its rows went, and how many stayed because they are in use."""

    removed = fields.Integer()
    kept = fields.Integer()


class HeldBack(Wire):
    """How many conversions of an import hold its undoing back, and why."""

    refunded = fields.Integer()
    overridden = fields.Integer()
    paid = fields.Integer()


class ImportUndoPreview(Wire):
    """What undoing an import would do now. `taken_back` is what is owed for its conversions, and would be no longer."""

    job_id = fields.UUID()
    status = one_of(("Completed", "Undone"))
    kind = one_of(("Affiliates", "Conversions"))
    is_possible = fields.Boolean()
    would_remove = fields.Integer()
    would_keep = fields.Integer()
    taken_back = fields.List(fields.Nested(CommissionBalance))
    held_back = fields.Nested(HeldBack)


def _of_file(values: Mapping[str, object] | BadRow) -> dict[str, Any]:
    """Return a row of a file as a JSON row loads; one that is none holds back no others."""
    code = values.code if isinstance(values, BadRow) else "invalid_row"
    with suppress(ValidationError):
        if not isinstance(values, BadRow):
            loaded: dict[str, Any] = ImportRow().load(values)
            return loaded
    return ImportRow().load({}) | {"problem": code}


def _address(sent: str) -> str | None:
    with suppress(ValidationError):
        found: str = Email().deserialize(sent)
        return found
    return None


def _status(sent: str | None) -> str:
    if sent is None:
        return AffiliateStatus.Approved.value
    return _STATUSES.get(sent.strip().lower(), AffiliateStatus.Pending.value)


def _warnings(row: Mapping[str, Any]) -> list[RowWarning]:
    found = []
    if row["status"] is not None and row["status"].strip().lower() not in _STATUSES:
        found.append(RowWarning("unknown_status", row["status"].strip(), _status(row["status"])))
    if (row["wallet_email"] or "").strip() and _address(row["wallet_email"]) is None:
        found.append(RowWarning("invalid_wallet_email"))
    return found


def _known_status(sent: str, place: int) -> str:
    found = _STATUSES.get(sent.strip().lower())
    if found is None:
        raise ValidationError({place: ["There is no such status."]}, "includeStatuses")
    return found
