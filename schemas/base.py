"""The base of all schemas: camelCase keys, unknown fields tolerated, no silent coercion.

Source: core spec, section 2 (clients may send and must tolerate unknown fields); ids are UUIDs, money is strict
integers in minor units, times are ISO 8601 with an offset.
"""

import base64
import functools
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, overload

import email_validator
from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields, validate

from domain import urls
from domain.refusals import Refused
from domain.text import one_line
from schemas import reading, rendering

#: Metadata of a field that is described as required: without it the request is refused with a code of its own.
NEEDED = {"is_needed": True}
#: Metadata of a response field that may be missing; every other one is always present.
MAY_LACK = {"may_lack": True}

_MAX_EMAIL_CHARS = 320
_MAX_UNKNOWN = 20
# The pattern is also valid in browsers; the length check rules out anything after it.
_COLOR = validate.Regexp("^#[0-9A-Fa-f]{6}$", error="It must be a colour such as #1a2b3c.")


class Wire(Schema):
    """A JSON object. Attribute names are snake_case, keys are their camelCase.

    Its name in the description is that of its class (without `Record`), or its `wire_name`; with `all_may_lack` every
    field of a response may be missing.
    """

    class Meta:
        unknown = EXCLUDE

    def load(self, data: Any, **options: Any) -> Any:
        if self.unknown == RAISE:
            self._check_names(data)
        loaded = None if options else self.well_formed(data)
        return super().load(data, **options) if loaded is None else loaded

    def well_formed(self, data: object) -> dict[str, Any] | None:
        """Return a well-formed object as `load` loads it; None if only `load` can load it or name its faults."""
        return self._reading.read(data)

    def too_many_items(self, max_count: int) -> Refused | None:
        """Return the refusal of a body with too many values to be parsed, of which at most `max_count` are items.

        None if the number of items is not its fault.
        """
        return None

    def _check_names(self, data: object) -> None:
        # marshmallow takes quadratic time in the number of unknown names.
        if isinstance(data, dict) and len(data) > len(self.load_fields) + _MAX_UNKNOWN:
            names = {field.data_key or name for name, field in self.load_fields.items()}
            raise ValidationError({name: ["Unknown field."] for name in data if name not in names})

    @overload
    def dump(self, obj: Any, *, many: Literal[True]) -> list[Any]: ...
    @overload
    def dump(self, obj: Any, *, many: Literal[False] | None = None) -> dict[str, Any]: ...
    @overload
    def dump(self, obj: Any, *, many: bool | None = None) -> Any: ...
    def dump(self, obj: Any, *, many: bool | None = None) -> Any:
        plan = self._plan
        return plan.render_all(obj) if (self.many if many is None else many) else plan.render(obj)

    @property
    def wire(self) -> tuple[tuple[str, str, str], ...]:
        """Return each key of a row that the database renders, with its attribute and its form, in order."""
        return self._plan.wire

    @functools.cached_property
    def _reading(self) -> reading.ReadingPlan:
        return reading.ReadingPlan(self)

    @functools.cached_property
    def _plan(self) -> rendering.RenderingPlan:
        return rendering.RenderingPlan(self)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        if field_obj.data_key is None:
            head, *tail = field_name.split("_")
            field_obj.data_key = head + "".join(part.capitalize() for part in tail)


def _no_nul(value: str) -> None:
    if "\x00" in value:
        raise ValidationError("A NUL character is not allowed.")


def text(*, longest: int, shortest: int = 0, **options: Any) -> fields.String:
    """Return a string field without NUL, between `shortest` and `longest` characters."""
    checks = [validate.Length(min=shortest, max=longest), _no_nul, *options.pop("validate", [])]
    return fields.String(validate=checks, **options)


class _OneLine(validate.Regexp):
    """Refuses control characters and bidirectional overrides; described as a pattern in the API."""

    def __init__(self) -> None:
        super().__init__(f"^[^{one_line.REFUSED_CHARACTERS}]*$")

    def __call__(self, value: Any) -> Any:  # in Python `$` would accept a line break at the end
        if not one_line.is_valid(value):
            raise ValidationError("It must be one line, without control characters and direction marks.")
        return value


#: The validator of a line that a person types.
ONE_LINE = _OneLine()


def line(*, longest: int, shortest: int = 0, **options: Any) -> fields.String:
    """Return a field of one line that a person types: a name, a title, a tag, a code."""
    return text(longest=longest, shortest=shortest, validate=[ONE_LINE, *options.pop("validate", [])], **options)


class CleanedLine(fields.String):
    """One line that a program forwards: control characters and direction marks are removed, not refused."""

    def __init__(self, *, longest: int, **options: Any) -> None:
        super().__init__(validate=[validate.Length(max=longest)], **options)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        return one_line.clean(str(super()._deserialize(value, *args, **kwargs)))


def bearer_secret(*, found_at: str, **options: Any) -> fields.String:
    """Return a response field whose value grants access to any holder: a signed link, a token, a secret.

    Agents and models never receive it (`api.mcp.tools.withheld_fields`); the sentence `found_at` tells them where a
    person finds it. An operation with one in its response `shows_secret`.
    """
    return fields.String(metadata={**options.pop("metadata", {}), "found_at": found_at}, **options)


def color(**options: Any) -> fields.String:
    """Return a field of a colour: `#` and six hexadecimal digits."""
    return fields.String(validate=[_COLOR, validate.Length(min=7, max=7)], **options)


def integer(**options: Any) -> fields.Integer:
    """Return an integer field that accepts neither "7" nor 7.0 nor true."""
    return fields.Integer(strict=True, **options)


class Flag(fields.Boolean):
    """A boolean that accepts true and false, but neither 1 nor "yes"."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Amount(fields.Decimal):
    """A JSON number as an exact Decimal; neither a string nor a boolean."""

    #: Its form in JSON that the database writes (`models.listing.json_row`).
    form = "number"

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(repr(value), *args, **kwargs)

    @staticmethod
    def render(value: Decimal) -> int | float:
        """Return the number for JSON: an integer if it has no fraction."""
        return int(value) if value == value.to_integral_value() else float(value)


class Instant(fields.Field[datetime]):
    """An aware time: dumped in UTC with milliseconds; loaded from ISO 8601, as UTC without an offset."""

    #: Its form in JSON that the database writes (`models.listing.json_row`).
    form = "moment"

    # Many times on a page of rows are equal, since rows are created together.
    @staticmethod
    @functools.lru_cache(maxsize=1024)
    def render(value: datetime) -> str:
        """Return the time in UTC with milliseconds."""
        text = (value if value.tzinfo is UTC else value.astimezone(UTC)).isoformat(timespec="milliseconds")
        return text.removesuffix("+00:00") + "Z"

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> datetime:
        try:
            at = datetime.fromisoformat(value)
            # In UTC, since PostgreSQL accepts fewer offsets than Python.
            return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValidationError("Not an ISO 8601 date or time.") from error


class Email(fields.Field[str]):
    """An email address, loaded trimmed and in lower case. Only its syntax is checked."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        if not isinstance(value, str) or len(value) > _MAX_EMAIL_CHARS:
            raise ValidationError("Not a valid email address.")
        try:
            # Without test_environment a .test address would be refused, which breaks tests of integrations.
            address = email_validator.validate_email(
                value.strip(), check_deliverability=False, strict=True, test_environment=True
            )
        except email_validator.EmailNotValidError as error:
            raise ValidationError("Not a valid email address.") from error
        if "." not in address.domain:
            raise ValidationError("Not a valid email address.")
        return address.normalized.lower()


def parse_email(text: str) -> str | None:
    """Return an address outside of a body trimmed and in lower case, None for one that `Email` refuses."""
    try:
        address: str = Email().deserialize(text)
    except ValidationError:
        return None
    return address


def one_of(kinds: Iterable[str], **options: Any) -> fields.String:
    """Return a string field that accepts exactly these values."""
    return fields.String(validate=validate.OneOf([str(kind) for kind in kinds]), **options)


def rate(**options: Any) -> Amount:
    """Return a field of a commission value: a number with at most six decimals."""
    return Amount(validate=_at_most_six_decimals, **options)


def from_base64(text: str, key: str) -> bytes:
    """Return the bytes of a text in standard base64. Raises ValidationError at `key`."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:  # not base64, or not even ASCII
        raise ValidationError("Not base64.", key) from error


def http_url(value: str) -> None:
    """Refuse anything but an absolute http(s) URL."""
    if not urls.is_http(value):
        raise ValidationError("It must be an http or https URL.")


def not_blank(value: str) -> None:
    """Refuse a text that is only white space."""
    if not value.strip():
        raise ValidationError("It must not be blank.")


def decimals(value: Decimal) -> int:
    """Return the number of decimals of a number, without trailing zeros."""
    exponent = value.normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # a JSON number is finite
    return max(-exponent, 0)


def _at_most_six_decimals(value: Decimal) -> None:
    if decimals(value) > 6:
        raise ValidationError("It can have at most 6 decimals.")
