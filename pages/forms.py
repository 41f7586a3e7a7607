"""What is in a form: what somebody typed, and what is wrong with it.

A form that is refused comes back as it was sent, each error next to its field, so that nothing is typed twice.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

from flask import request

from pages.calls import CallAnswer

#: The hidden field of every POST form: the Idempotency-Key of what it asks for.
KEY_FIELD = "_key"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
# What the API says of a field that has to be there, as callers of an API read it.
_LEFT_OUT = ("Field may not be null.", "Missing data for required field.")
_NEEDED = "Fill this in."
_UNPROCESSABLE = 422


@dataclass(frozen=True, slots=True)
class FormState:
    """The texts by field, the error of a field by its name, and what is wrong with the whole.

    `id` tells two forms of one page apart that have fields of one name. `status` is that of the page which shows it.
    """

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    alert: str | None = None
    id: str = ""
    status: int = 200

    @property
    def is_wrong(self) -> bool:
        """Whether there is anything to mend."""
        return bool(self.errors or self.alert)

    def value(self, name: str) -> str:
        """Return the text of a field; empty when there is none."""
        found = self.values.get(name)
        return found[0] if found else ""

    def has(self, name: str, value: str) -> bool:
        """Say whether a choice is made."""
        return value in self.values.get(name, ())


EMPTY = FormState()
#: What the answer to a question of a program's own form is called in ours, before the key of the question.
ANSWER = "answers."


def blank(form_id: str = "", **values: object) -> FormState:
    """Return a form that shows what holds now; None is an empty field, a list are several choices."""
    return FormState({name: _texts(value) for name, value in values.items()}, id=form_id)


def sent(form_id: str = "") -> FormState:
    """Return what was typed in the form of this request."""
    return FormState({name: found for name, found in request.form.lists() if name != KEY_FIELD}, id=form_id)


def asked() -> FormState:
    """Return the filter that stands in this request's address."""
    return FormState(dict(request.args.lists()))


def form_with_errors(errors: Mapping[str, str], alert: str | None = None, form_id: str = "") -> FormState:
    """Return what was typed, with what the page itself found wrong."""
    return FormState(sent().values, errors, alert, form_id, _UNPROCESSABLE)


def form_from_refusal(answer: CallAnswer, names: Mapping[str, str] = _NO_NAMES, form_id: str = "") -> FormState:
    """Return what was typed, with what the API found wrong.

    `names` are the names in this form of the API's fields that it calls otherwise. Errors of anything that the form has
    no field for appear above it.
    """
    assert answer.refusal is not None
    typed = sent().values
    errors, rest = {}, []
    for field_name, message in answer.refusal.fields.items():
        name, words = names.get(field_name, field_name), _reword(message)
        if name in typed:
            errors[name] = words
        else:
            rest.append(f"{field_name}: {words}")
    alert = " ".join(rest) or (None if errors else answer.refusal.message)
    return FormState(typed, errors, alert, form_id, answer.status)


def form_with_alert(answer: CallAnswer, form_id: str = "") -> FormState:
    """Return an empty form that says what the API refused."""
    assert answer.refusal is not None
    return FormState(alert=answer.refusal.message, id=form_id, status=answer.status)


def answers() -> dict[str, str]:
    """Return what was typed for a program's own form, by the key of the question."""
    return {name.removeprefix(ANSWER): said for name, said in request.form.items() if name.startswith(ANSWER)}


def answered(said: Mapping[str, object]) -> FormState:
    """Return a form that shows the answers to a program's own form, by the key of the question."""
    return FormState({f"{ANSWER}{key}": _texts(_as_typed(answer)) for key, answer in said.items()})


def read_file(name: str, max_bytes: int) -> bytes:
    """Return the file that was chosen, of a longer one a byte more than it may have; nothing where none was."""
    chosen = request.files.get(name)
    try:
        return chosen.read(max_bytes + 1) if chosen is not None else b""
    finally:
        request.close()  # a large file was put into one on the disk


def key() -> str | None:
    """Return the Idempotency-Key that came with this form."""
    return request.form.get(KEY_FIELD) or None


def new_key() -> str:
    """Return a key for a form that is about to be shown: a double click, a reload or a lost answer sends it again."""
    return secrets.token_urlsafe(18)


def _reword(message: str) -> str:
    """Return what the API says is wrong with a field in words for people, who left it empty where it was null."""
    return _NEEDED if message in _LEFT_OUT else message


def _as_typed(answer: object) -> object:
    """Return an answer as one types it: a number without an exponent."""
    return f"{Decimal(repr(answer)):f}" if isinstance(answer, float) else answer


def _texts(value: object) -> Sequence[str]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return (str(value),)
