"""The answers to a campaign's application form, each validated by the type of its field.

Source: tracking spec, section 6, applicationAnswers (a map keyed by form field key).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from domain import urls
from domain.programs.application_form import FieldType, FormField, is_line, is_printable
from domain.refusals import Refused

MAX_TEXT_CHARS = 500
MAX_LONG_CHARS = 5_000
MAX_URL_CHARS = 2_048
#: Digits of a number before the point, after it, and in all, which a number in JSON represents exactly.
MAX_DIGITS = 15

_NAME = "answers"
_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{MAX_DIGITS}}}(\.[0-9]{{1,{MAX_DIGITS}}})?")
_MAX_KEY_CHARS = 60
_MAX_ERRORS = 20


class _InvalidAnswer(Exception):
    """The answer is invalid; the message says why."""


def validate(fields: Sequence[FormField], value: Mapping[str, object]) -> dict[str, object]:
    """Return the answers that are not empty by key, in the order of the form.

    Texts are trimmed; a number value as text becomes a number. Raises Refused 400 invalid_request: `field` is the first
    invalid one, such as answers.company, and `errors` has the fault of each.
    """
    keys = {field.key for field in fields}
    faults = {_printable_key(key): "The form has no such question here." for key in value if key not in keys}
    answers: dict[str, object] = {}
    for field in fields:
        try:
            answer = _READERS[field.type](field, value.get(field.key))
        except _InvalidAnswer as error:
            faults[field.key] = str(error)
            continue
        if answer is not None:
            answers[field.key] = answer
        elif field.required:
            faults[field.key] = "An answer is required."
    if faults:
        raise _refusal(faults)
    return answers


def _refusal(faults: Mapping[str, str]) -> Refused:
    by_field = {f"{_NAME}.{key}": why for key, why in list(faults.items())[:_MAX_ERRORS]}
    first, why = next(iter(by_field.items()))
    return Refused(
        400, "invalid_request", f"{first}: {why}", field=first, errors={name: [why] for name, why in by_field.items()}
    )


def _printable_key(key: str) -> str:
    start = key[:_MAX_KEY_CHARS]
    return start if is_line(start) else "?"


def _text(value: object, *, max_chars: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise _InvalidAnswer("It must be a text.")
    text = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > max_chars:
        raise _InvalidAnswer(f"It may have at most {max_chars:,} characters.")
    if not is_printable(text):
        raise _InvalidAnswer("It contains a character that cannot be displayed.")
    return text or None


def _line(field: FormField, value: object, max_chars: int = MAX_TEXT_CHARS) -> str | None:
    text = _text(value, max_chars=max_chars)
    if text is not None and "\n" in text:
        raise _InvalidAnswer("It must be one line.")
    return text


def _paragraphs(field: FormField, value: object) -> str | None:
    return _text(value, max_chars=MAX_LONG_CHARS)


def _choice(field: FormField, value: object) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or value not in field.options:
        raise _InvalidAnswer("It must be one of the options.")
    return value


def _url(field: FormField, value: object) -> str | None:
    text = _line(field, value, MAX_URL_CHARS)
    if text is not None and not urls.is_http(text):
        raise _InvalidAnswer("It must be a URL that begins with http:// or https://.")
    return text


def _number(field: FormField, value: object) -> int | float | None:
    if isinstance(value, str):
        text = value.strip(" ")
        if not text:
            return None
        number = Decimal(text) if _NUMBER.fullmatch(text) else None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = Decimal(repr(value))
    elif value is None:
        return None
    else:
        number = None
    if number is None or not _is_exact(number):
        raise _InvalidAnswer(f"It must be a number of at most {MAX_DIGITS} digits, such as 12 or 12.5.")
    return int(number) if number == number.to_integral_value() else float(number)


def _is_exact(number: Decimal) -> bool:
    if not number.is_finite():
        return False
    _, digits, exponent = number.normalize().as_tuple()
    assert isinstance(exponent, int)  # it is finite
    return len(digits) <= MAX_DIGITS and number.adjusted() < MAX_DIGITS and exponent >= -MAX_DIGITS


_READERS: Mapping[FieldType, Callable[[FormField, object], object]] = {
    FieldType.Text: _line,
    FieldType.Long: _paragraphs,
    FieldType.Choice: _choice,
    FieldType.Url: _url,
    FieldType.Number: _number,
}
