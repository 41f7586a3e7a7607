"""Values and errors of a form.

A refused form comes back as it was sent, each error next to its field, so that nothing is typed twice.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

from flask import request

from pages.api_client import ApiResult

#: The hidden field of every POST form: the Idempotency-Key of its operation.
KEY_FIELD = "_key"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
#: The error of a required field that is empty.
FILL_IN = "This field is required."
_NOT_INTEGER, _AMOUNT = "Not a valid integer.", "Cents"
_TYPE_AMOUNT = "Enter an amount, such as 25.00."
# Messages of the API that are worded for callers of an API, in words for people.
_REWORDED_MESSAGES = MappingProxyType(
    {
        "Field may not be null.": FILL_IN,
        "It must not be blank.": FILL_IN,
        "Missing data for required field.": FILL_IN,
        "The URL must be absolute ASCII of at most 2048 characters.": "Enter a full URL, such as https://www.example.com/.",
        "Not a valid email address.": "Enter a valid email address.",
        _NOT_INTEGER: "Enter a whole number.",
        "Not a valid number.": "Enter a number.",
    }
)
# Fields of the API whose names are not their words on pages; all others are shown as words, without "Cents".
_FIELD_WORDS = MappingProxyType(
    {
        "affiliateSlug": "link name",
        "customAlias": "slug",
        "defaultCommissionType": "commission type",
        "defaultCommissionValue": "commission",
        "externalEventId": "order id",
        "minPayoutCents": "minimum payout",
        "occurredAt": "date",
        "payoutGraceDays": "hold period (days)",
        "programId": "program",
        "recurringDelayInvoices": "number of skipped invoices",
        "recurringMonths": "recurring commission (months)",
        "saleCommissionType": "type of the sale commission",
        "saleCommissionValue": "sale commission",
    }
)
# Not within a quoted text or an address, which are as typed.
_FIELD_NAME = re.compile(r"(?<![\w'\"“/.:@#-])[a-z]+(?:[A-Z][a-z]+)+(?![\w/.:@-]*[/@])\b")
_REQUEST = re.compile(r" \((?:GET|POST|PUT|PATCH|DELETE) [^)]*\)")
_WORD_START = re.compile(r"(?=[A-Z])")
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")
_UNPROCESSABLE = 422


@dataclass(frozen=True, slots=True)
class FormState:
    """The texts by field, the error of a field by its name, and the `alert` for the whole form.

    `id` distinguishes forms of one page that have fields of the same name. `status` is the status of the page with it.
    """

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    alert: str | None = None
    id: str = ""
    status: int = 200

    @property
    def is_wrong(self) -> bool:
        """Whether the form has errors."""
        return bool(self.errors or self.alert)

    def value(self, name: str) -> str:
        """Return the text of a field; empty if it is missing."""
        texts = self.values.get(name)
        return texts[0] if texts else ""

    def has(self, name: str, value: str) -> bool:
        """Return whether a choice is selected."""
        return value in self.values.get(name, ())


EMPTY = FormState()
#: The prefix of form fields for a program's own questions, before the key of the question.
ANSWER = "answers."


def prefill(form_id: str = "", **values: object) -> FormState:
    """Return a form with these values; None is an empty field, a list several choices."""
    return FormState({name: _to_texts(value) for name, value in values.items()}, id=form_id)


def form_from_request(form_id: str = "") -> FormState:
    """Return the values typed into the form of this request."""
    return FormState({name: texts for name, texts in request.form.lists() if name != KEY_FIELD}, id=form_id)


def form_from_query() -> FormState:
    """Return the filter in this request's address as a form."""
    return FormState(dict(request.args.lists()))


def form_with_errors(
    errors: Mapping[str, str], alert: str | None = None, form_id: str = "", status: int = _UNPROCESSABLE
) -> FormState:
    """Return the typed values, with errors that the page itself found."""
    return FormState(form_from_request().values, errors, alert, form_id, status)


def form_from_refusal(answer: ApiResult, names: Mapping[str, str] = _NO_NAMES, form_id: str = "") -> FormState:
    """Return the typed values, with the errors of the API.

    `names` maps fields of the API to fields of this form where they differ. Errors of fields that the form does not
    have appear above it.
    """
    assert answer.refusal is not None
    typed = form_from_request().values
    errors, rest = {}, []
    for field_name, message in answer.refusal.fields.items():
        name, words = names.get(field_name, field_name), _reword(message, field_name)
        if name in typed:
            errors[name] = words
        else:
            rest.append(f"{_reword(field_name)}: {words}")
    alert = " ".join(rest) or (None if errors else _reword(answer.refusal.message))
    return FormState(typed, errors, alert, form_id, answer.status)


def form_with_alert(answer: ApiResult, form_id: str = "") -> FormState:
    """Return an empty form with the API's refusal as its alert."""
    assert answer.refusal is not None
    return FormState(alert=_reword(answer.refusal.message), id=form_id, status=answer.status)


def read_answers() -> dict[str, str]:
    """Return the answers typed into a program's own form, by the key of the question."""
    return {name.removeprefix(ANSWER): text for name, text in request.form.items() if name.startswith(ANSWER)}


def prefill_answers(answers: Mapping[str, object]) -> FormState:
    """Return a form with answers to a program's own questions, given by the key of the question."""
    return FormState({f"{ANSWER}{key}": _to_texts(_to_input(answer)) for key, answer in answers.items()})


def read_file(name: str, max_bytes: int) -> bytes:
    """Return the content of the chosen file, at most one byte more than `max_bytes`; empty if none was chosen."""
    chosen = request.files.get(name)
    try:
        return chosen.read(max_bytes + 1) if chosen is not None else b""
    finally:
        request.close()  # deletes the temporary file of a large upload


def idempotency_key() -> str | None:
    """Return the Idempotency-Key of this form."""
    return request.form.get(KEY_FIELD) or None


def new_key() -> str:
    """Return a key for a new form: a double click, a reload or a retry after a lost response sends the same key."""
    return secrets.token_urlsafe(18)


def _reword(message: str, field_name: str | None = None) -> str:
    """Return an error message of the API in words for people: without names of fields, and requests to send.

    They type an amount in major units, and do not know the API's name of a field.
    """
    if field_name is not None:
        if message == _NOT_INTEGER and field_name.endswith(_AMOUNT):
            return _TYPE_AMOUNT
        message = message.replace(f"{field_name} must", "It must", 1)
    reworded = _REWORDED_MESSAGES.get(message)
    if reworded is not None:
        return reworded
    words = _FIELD_NAME.sub(lambda name: _describe_field(name[0]), _REQUEST.sub("", message))
    return words if words == message else _SENTENCE_START.sub(lambda letter: letter[0].upper(), words)


def _describe_field(name: str) -> str:
    """Return the words of a field of the API: `largeSaleCents` is `large sale`."""
    words = _FIELD_WORDS.get(name) or _WORD_START.sub(" ", name).lower()
    return words.removesuffix(" cents")


def _to_input(answer: object) -> object:
    """Return an answer as a person types it: a number without an exponent."""
    return f"{Decimal(repr(answer)):f}" if isinstance(answer, float) else answer


def _to_texts(value: object) -> Sequence[str]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return [str(item) for item in value]
    return (str(value),)
