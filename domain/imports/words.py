"""Why a row of an import is not taken: what becomes of it by its code, and a sentence for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from domain.imports.warnings import RowWarning, shorten

Outcome = Literal["new", "known", "wrong", "leftOut"]

_SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "invalid_row": "It is no row: a field is too long, or of another type.",
        "wrong_cell_count": "It has more or fewer cells than the header.",
        "missing_email": "It has no email.",
        "invalid_email": "Its email is no address.",
        "affiliate_email_or_slug_required": "It names no affiliate: affiliateEmail or affiliateSlug is needed.",
        "affiliate_not_found": "The program has no such affiliate.",
        "amount_out_of_range": "Its amountCents is missing, no whole number, negative or too large.",
        "commission_out_of_range": "Its commissionCents is missing, no whole number, negative or too large.",
        "invalid_amount": "Its amount is no plain number, or has more decimals than its currency.",
        "invalid_commission": "Its commission is no plain number, or has more decimals than its currency.",
        "unsupported_currency": "Its currency is none of those that are supported.",
        "occurred_at_required": "It has no occurredAt.",
        "invalid_occurred_at": "Its occurredAt is no ISO 8601 date or time.",
        "occurred_at_in_future": "Its occurredAt is yet to come.",
        "invalid_paid": "Its paid is neither true nor false.",
        "invalid_type": "Its type is neither OneTime nor Recurring.",
        "already_imported": "An earlier import has brought it.",
        "already_exists": "The program has an affiliate with this email.",
        "duplicate_in_batch": "It stands further up already.",
        "excluded_paid": "It was paid, and what was paid is to be left out.",
        "status_excluded": "Its status is to be left out.",
    }
)
_KNOWN = frozenset({"already_imported", "already_exists", "duplicate_in_batch"})
_LEFT_OUT = frozenset({"excluded_paid", "status_excluded"})


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """What an import does with a row, by its place from 0 and its line in a file; without a `reason` it is taken.

    `warnings` are of a row that is taken.
    """

    index: int
    line: int | None
    reason: str | None
    warnings: Sequence[RowWarning] = ()

    @property
    def outcome(self) -> Outcome:
        """Say what becomes of the row."""
        if self.reason is None:
            return "new"
        return "known" if self.reason in _KNOWN else "leftOut" if self.reason in _LEFT_OUT else "wrong"

    @property
    def message(self) -> str | None:
        """Say why in a sentence."""
        return None if self.reason is None else said(self.reason)


def verdicts(
    total: int,
    *,
    lines: Sequence[int] | None,
    reasons: Mapping[int, str],
    warnings: Mapping[int, Sequence[RowWarning]] = MappingProxyType({}),
) -> list[RowVerdict]:
    """Return what becomes of each of so many rows, by the reason why one is not taken; `lines` are a file's."""
    return [
        RowVerdict(place, lines[place] if lines else None, reasons.get(place), warnings.get(place, ()))
        for place in range(total)
    ]


def stored_warnings(
    warnings: Mapping[int, Sequence[RowWarning]], *, lines: Sequence[int] | None
) -> list[dict[str, object]]:
    """Return the warnings of an import as its job keeps them, by row."""
    return [
        {
            "index": place,
            "line": lines[place] if lines else None,
            "code": one.code,
            "message": one.message,
            "value": shorten(one.value),
            "replacement": one.replacement,
        }
        for place in sorted(warnings)
        for one in warnings[place]
    ]


def said(reason: str) -> str:
    """Return the sentence of a code; `invalid_customer_email` and its like name a field that is too long or no text."""
    field = reason.removeprefix("invalid_").replace("_", " ")
    return _SENTENCES.get(reason, f"Its {field} is too long, or no text.")
