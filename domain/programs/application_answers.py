"""What people answer to a campaign's form: each answer checked by the type of its field.

Source: tracking spec, section 6, applicationAnswers (a map keyed by form field key).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from domain import urls
from domain.programs.application_form import FieldType, FormField, is_line, is_seen
from domain.refused import Refused

LONGEST_TEXT = 500
LONGEST_LONG = 5_000
LONGEST_URL = 2_048
#: Digits of a number before its point, after it, and together: so many a number in JSON holds exactly.
MOST_DIGITS = 15

_NAME = "answers"
_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?")
_LONGEST_NAME_SHOWN = 60
_MOST_NAMED = 20


class _Wrong(Exception):
    """Why an answer is not taken."""


def read(fields: Sequence[FormField], sent: Mapping[str, object]) -> dict[str, object]:
    """Return the answers that are not empty by key, in the order of the form.

    Texts are trimmed; a number that was sent as text is a number. Raises Refused 400 invalid_request: `field` is the
    first that is wrong, such as answers.company, and `errors` says of each what is.
    """
    asked = {field.key for field in fields}
    wrong = {_shown(key): "The form asks for no such answer here." for key in sent if key not in asked}
    answers: dict[str, object] = {}
    for field in fields:
        try:
            answer = _READERS[field.type](field, sent.get(field.key))
        except _Wrong as error:
            wrong[field.key] = str(error)
            continue
        if answer is not None:
            answers[field.key] = answer
        elif field.required:
            wrong[field.key] = "This has to be answered."
    if wrong:
        raise _refused(wrong)
    return answers


def _refused(wrong: Mapping[str, str]) -> Refused:
    named = {f"{_NAME}.{key}": why for key, why in list(wrong.items())[:_MOST_NAMED]}
    first, why = next(iter(named.items()))
    return Refused(
        400, "invalid_request", f"{first}: {why}", field=first, errors={name: [why] for name, why in named.items()}
    )


def _shown(key: str) -> str:
    named = key[:_LONGEST_NAME_SHOWN]
    return named if is_line(named) else "?"


def _text(sent: object, *, longest: int) -> str | None:
    if sent is None:
        return None
    if not isinstance(sent, str):
        raise _Wrong("It must be a text.")
    said = sent.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(said) > longest:
        raise _Wrong(f"It may have at most {longest:,} characters.")
    if not is_seen(said):
        raise _Wrong("It holds a character that cannot be shown.")
    return said or None


def _line(field: FormField, sent: object, longest: int = LONGEST_TEXT) -> str | None:
    said = _text(sent, longest=longest)
    if said is not None and "\n" in said:
        raise _Wrong("It must be one line.")
    return said


def _long(field: FormField, sent: object) -> str | None:
    return _text(sent, longest=LONGEST_LONG)


def _choice(field: FormField, sent: object) -> str | None:
    if sent is None or sent == "":
        return None
    if not isinstance(sent, str) or sent not in field.options:
        raise _Wrong("It must be one of the options.")
    return sent


def _url(field: FormField, sent: object) -> str | None:
    said = _line(field, sent, LONGEST_URL)
    if said is not None and not urls.is_http(said):
        raise _Wrong("It must be an address that begins with http:// or https://.")
    return said


def _number(field: FormField, sent: object) -> int | float | None:
    if isinstance(sent, str):
        said = sent.strip(" ")
        if not said:
            return None
        found = Decimal(said) if _NUMBER.fullmatch(said) else None
    elif isinstance(sent, int | float) and not isinstance(sent, bool):
        found = Decimal(repr(sent))
    elif sent is None:
        return None
    else:
        found = None
    if found is None or not _is_held(found):
        raise _Wrong(f"It must be a number of at most {MOST_DIGITS} digits, such as 12 or 12.5.")
    return int(found) if found == found.to_integral_value() else float(found)


def _is_held(number: Decimal) -> bool:
    if not number.is_finite():
        return False
    _, digits, exponent = number.normalize().as_tuple()
    assert isinstance(exponent, int)  # it is finite
    return len(digits) <= MOST_DIGITS and number.adjusted() < MOST_DIGITS and exponent >= -MOST_DIGITS


_READERS: Mapping[FieldType, Callable[[FormField, object], object]] = {
    FieldType.Text: _line,
    FieldType.Long: _long,
    FieldType.Choice: _choice,
    FieldType.Url: _url,
    FieldType.Number: _number,
}
