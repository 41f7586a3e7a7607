"""The verdicts on the rows of an import, and a sentence for each code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from domain.imports.warnings import RowWarning, shorten

Outcome = Literal["new", "known", "wrong", "leftOut"]

_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "invalid_row": "It is not a valid row: a field is too long or of the wrong type.",
        "wrong_cell_count": "It has more or fewer cells than the header.",
        "missing_email": "It has no email.",
        "invalid_email": "Its email is not a valid address.",
        "affiliate_email_or_slug_required": "It names no affiliate: affiliateEmail or affiliateSlug is needed.",
        "affiliate_not_found": "The program has no such affiliate.",
        "amount_out_of_range": "Its amountCents is missing, not a whole number, negative or too large.",
        "commission_out_of_range": "Its commissionCents is missing, not a whole number, negative or too large.",
        "invalid_amount": "Its amount is not a plain number, or has more decimals than its currency.",
        "invalid_commission": "Its commission is not a plain number, or has more decimals than its currency.",
        "unsupported_currency": "Its currency is not supported.",
        "occurred_at_required": "It has no occurredAt.",
        "invalid_occurred_at": "Its occurredAt cannot be read. Write it as YYYY-MM-DD, or in ISO 8601 with the time.",
        "occurred_at_in_future": "Its occurredAt is in the future.",
        "invalid_paid": "Its paid is neither true nor false.",
        "invalid_type": "Its type is neither OneTime nor Recurring.",
        "already_imported": "It was imported before.",
        "already_exists": "The program already has an affiliate with this email.",
        "duplicate_in_batch": "It repeats an earlier row.",
        "excluded_paid": "It is paid, and paid rows are excluded.",
        "status_excluded": "Rows with its status are excluded.",
    }
)
_KNOWN = frozenset({"already_imported", "already_exists", "duplicate_in_batch"})
_LEFT_OUT = frozenset({"excluded_paid", "status_excluded"})


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """The decision about a row, by its index from 0 and its line in a file; without a `reason` it is imported.

    Only an imported row has `warnings`.
    """

    index: int
    line: int | None
    reason: str | None
    warnings: Sequence[RowWarning] = ()

    @property
    def outcome(self) -> Outcome:
        """The group of the decision."""
        if self.reason is None:
            return "new"
        return "known" if self.reason in _KNOWN else "leftOut" if self.reason in _LEFT_OUT else "wrong"

    @property
    def message(self) -> str | None:
        """The reason as a sentence."""
        return None if self.reason is None else to_sentence(self.reason)


def list_verdicts(
    total: int,
    *,
    lines: Sequence[int] | None,
    reasons: Mapping[int, str],
    warnings: Mapping[int, Sequence[RowWarning]] = MappingProxyType({}),
) -> list[RowVerdict]:
    """Return the verdicts on `total` rows from the reasons against them; `lines` are a file's."""
    return [
        RowVerdict(index, lines[index] if lines else None, reasons.get(index), warnings.get(index, ()))
        for index in range(total)
    ]


def serialize_warnings(
    warnings: Mapping[int, Sequence[RowWarning]], *, lines: Sequence[int] | None
) -> list[dict[str, object]]:
    """Return the warnings of an import, by row, as its job stores them."""
    return [
        {
            "index": index,
            "line": lines[index] if lines else None,
            "code": warning.code,
            "message": warning.message,
            "value": shorten(warning.value),
            "replacement": warning.replacement,
        }
        for index in sorted(warnings)
        for warning in warnings[index]
    ]


def to_sentence(reason: str) -> str:
    """Return the sentence of a code; one such as `invalid_customer_email` names a field that is too long or no text."""
    field = reason.removeprefix("invalid_").replace("_", " ")
    return _SENTENCES.get(reason, f"Its {field} is too long or not a text.")
