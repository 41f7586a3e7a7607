"""The step between a file of another service and its preview: which column is which, and what its words mean.

A file whose columns have our names needs no such step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from flask import request

from domain.imports import column_mapping, files, suggestions
from domain.imports.files import Kind
from domain.imports.suggestions import Suggestion

_MAX_WORDS = 20
_MAX_WORD = 60
_COLUMN = "col-"
_KEPT = ("kind", "currency", "matched", "service")
#: Our fields with their names for people, by the kind of file, in the order of the form.
FIELDS: Mapping[Kind, Mapping[str, str]] = MappingProxyType(
    {
        "Affiliates": {
            "email": "Email",
            "fullName": "Full name",
            "firstName": "First name",
            "lastName": "Last name",
            "slug": "Link name (slug)",
            "status": "Status",
            "walletEmail": "PayPal or wallet email",
        },
        "Conversions": {
            "affiliateEmail": "Affiliate's email",
            "affiliateSlug": "Affiliate's link name (slug)",
            "amount": "Sale amount, such as 49.00",
            "amountCents": "Sale amount in cents",
            "commission": "Commission, such as 9.80",
            "commissionCents": "Commission in cents",
            "currency": "Currency",
            "occurredAt": "Date of the sale",
            "paid": "Status of the commission",
            "type": "Type (OneTime or Recurring)",
            "customerEmail": "Customer's email",
            "customerName": "Customer's name",
            "processorCustomerId": "Customer id at your payment provider",
            "processorSubscriptionId": "Subscription id at your payment provider",
            "externalId": "Order or transaction id",
        },
    }
)
#: Our words with their names for people.
WORDS: Mapping[Kind, Mapping[str, str]] = MappingProxyType(
    {
        "Affiliates": {word: "Don't import" if word == column_mapping.LEAVE_OUT else word
                       for word in column_mapping.PERSON_WORDS},
        "Conversions": {
            column_mapping.PAID: "Paid to the affiliate",
            column_mapping.UNPAID: "Not paid yet",
            column_mapping.LEAVE_OUT: "Don't import (rejected or refunded)",
        },
    }
)  # fmt: skip
_STATUS_FIELD: Mapping[Kind, str] = MappingProxyType({"Affiliates": "status", "Conversions": "paid"})
_REQUIRED: Mapping[Kind, Sequence[tuple[tuple[str, ...], str]]] = MappingProxyType(
    {
        "Affiliates": ((("email",), "Choose the column with the email."),),
        "Conversions": (
            (("affiliateEmail", "affiliateSlug"), "Choose the column that identifies the affiliate."),
            (("commission", "commissionCents"), "Choose the column with the commission."),
            (("occurredAt",), "Choose the column with the date of the sale."),
        ),
    }
)


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """The form: the columns of the file with a sample of each, the chosen ones, and the words of its status column.

    `service` is the known export that was recognized. `errors` are by field, `words` pairs of theirs and ours.
    """

    kind: Kind
    service: str | None
    header: Sequence[tuple[str, str]]
    chosen: Mapping[str, str]
    words: Sequence[tuple[str, str]]
    currency: str
    errors: Mapping[str, str]

    @property
    def fields(self) -> Mapping[str, str]:
        """Our fields with their names for people."""
        return FIELDS[self.kind]

    @property
    def our_words(self) -> Mapping[str, str]:
        """Our words with their names for people."""
        return WORDS[self.kind]

    def body(self) -> dict[str, Any]:
        """Return the mapping as the operations take it."""
        body: dict[str, Any] = {"columns": dict(self.chosen)}
        if self.words:
            body["words"] = dict(self.words)
        if self.kind == "Conversions" and self.currency:
            body["currency"] = self.currency
        return body


def needs_matching(text: str) -> bool:
    """Return whether a file has columns that are not ours, or the request has a mapping. Raises UnreadableFile."""
    if "kind" in request.form:
        return True
    names = {name.lower() for name in files.read_header(text)}
    return not any(names <= {field.lower() for field in fields} for fields in (files.PERSON_FIELDS, files.SALE_FIELDS))


def read_form(text: str) -> ColumnForm:
    """Return the form as it was sent, or as it is suggested for a new file. Raises UnreadableFile."""
    header = files.read_header(text)
    suggestion = suggestions.suggest(header)
    is_sent = "matched" in request.form
    kind = _read_kind(suggestion)
    if is_sent:
        chosen = _read_columns(kind, header)
    elif kind == suggestion.kind:
        chosen = dict(suggestion.columns)
    else:
        chosen = suggestions.guess_columns(kind, header)
    words, is_complete = _read_words(text, kind, chosen, suggestion)
    errors = _find_errors(kind, chosen, header)
    if is_sent and not is_complete and not errors:
        errors["words"] = "Choose what each status in the file means."
    return ColumnForm(
        kind=kind,
        service=suggestion.service if kind == suggestion.kind else None,
        header=[(name, next(iter(files.read_cells(text, name, max_rows=20)), "")) for name in header if name],
        chosen=chosen,
        words=words,
        currency=request.form.get("currency", "").strip().upper(),
        errors=errors if is_sent else {},
    )


def list_hidden_fields() -> list[tuple[str, str]]:
    """Return the fields of the mapping that this request sent, for the next form."""
    return [
        (name, value)
        for name, values in request.form.lists()
        if name in _KEPT or name.startswith(_COLUMN) or name in ("theirs", "ours")
        for value in values
    ]


def _read_kind(suggestion: Suggestion) -> Kind:
    kind = request.form.get("kind")
    return kind if kind in ("Affiliates", "Conversions") else suggestion.kind  # type: ignore[return-value]  # checked


def _read_columns(kind: Kind, header: Sequence[str]) -> dict[str, str]:
    columns = {field: request.form.get(f"{_COLUMN}{field}", "") for field in FIELDS[kind]}
    return {field: name for field, name in columns.items() if name in header and name}


def _read_words(
    text: str, kind: Kind, chosen: Mapping[str, str], suggestion: Suggestion
) -> tuple[list[tuple[str, str]], bool]:
    """Return the words of the status column with ours (empty if unknown), and whether all are known."""
    column = chosen.get(_STATUS_FIELD[kind])
    if column is None:
        return [], True
    theirs = list(dict.fromkeys(cell[:_MAX_WORD] for cell in files.read_cells(text, column)))
    if len(theirs) > _MAX_WORDS:
        return [], True
    choices = dict(zip(request.form.getlist("theirs"), request.form.getlist("ours"), strict=False))
    suggested = suggestion.words if kind == suggestion.kind else {}
    words = [
        (word, choices.get(word) or suggested.get(word.casefold()) or suggestions.guess_word(kind, word) or "")
        for word in theirs
    ]
    valid = [(word, ours if ours in WORDS[kind] else "") for word, ours in words]
    return valid, all(ours for _, ours in valid)


def _find_errors(kind: Kind, chosen: Mapping[str, str], header: Sequence[str]) -> dict[str, str]:
    errors = {fields[0]: message for fields, message in _REQUIRED[kind] if not any(field in chosen for field in fields)}
    if {"amount", "amountCents"} <= chosen.keys():
        errors["amount"] = "Choose the amount once: such as 49.00 or in cents."
    if {"commission", "commissionCents"} <= chosen.keys():
        errors["commission"] = "Choose the commission once: such as 49.00 or in cents."
    if kind == "Conversions" and "currency" not in chosen and not request.form.get("currency", "").strip():
        errors["currency"] = "Choose the column with the currency, or type the currency of all amounts below."
    return errors
