"""What every schema shares: camelCase on the wire, unknown fields tolerated, no silent coercion.

Source: core spec, section 2 (clients may send and must tolerate unknown fields); ids are UUIDs, money is strict
integers in minor units, moments are ISO 8601 with an offset.
"""

import base64
import functools
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import email_validator
from marshmallow import EXCLUDE, RAISE, Schema, ValidationError, fields, validate

from domain import urls
from domain.refused import Refused
from domain.text import one_line
from schemas import reading, rendering

#: Metadata of a field that is described as required: without it the answer is a refusal with a code of its own.
NEEDED = {"is_needed": True}
#: Metadata of a field of an answer that is left out where there is nothing to say; every other is always there.
MAY_LACK = {"may_lack": True}

_LONGEST_EMAIL = 320
_MAX_UNKNOWN = 20
# The pattern as browsers read it too; that nothing follows is the length's to say.
_COLOR = validate.Regexp("^#[0-9A-Fa-f]{6}$", error="It must be a colour such as #1a2b3c.")


class Wire(Schema):
    """A JSON object. Attribute names are snake_case, keys are their camelCase.

    In the description it is called by its class (without `Record`), or by the `wire_name` of its own that it has; of an
    answer with `all_may_lack` nothing is said to be always there.
    """

    class Meta:
        unknown = EXCLUDE

    def load(self, data: Any, **options: Any) -> Any:
        if self.unknown == RAISE:
            self._check_names(data)
        found = None if options else self.well_formed(data)
        return super().load(data, **options) if found is None else found

    def well_formed(self, data: object) -> dict[str, Any] | None:
        """Return an object as `load` loads it, or None when it has to be looked at more closely."""
        return self._reading.read(data)

    def too_many_items(self, max_count: int) -> Refused | None:
        """Return the refusal of a body with too many parts to be read, of which at most `max_count` are items.

        None where the number of its items is not what is wrong with it.
        """
        return None

    def _check_names(self, data: object) -> None:
        # marshmallow takes the longer for each unknown name the more there are.
        if isinstance(data, dict) and len(data) > len(self.load_fields) + _MAX_UNKNOWN:
            known = {field.data_key or name for name, field in self.load_fields.items()}
            raise ValidationError({name: ["Unknown field."] for name in data if name not in known})

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
    """Refuses control characters and bidirectional overrides; described as a pattern."""

    def __init__(self) -> None:
        super().__init__(f"^[^{one_line.REFUSED_CHARACTERS}]*$")

    def __call__(self, value: Any) -> Any:  # in Python `$` would let a line break at the end through
        if not one_line.is_valid(value):
            raise ValidationError("It must be one line, without control characters and direction marks.")
        return value


#: What a line that a person types is validated by.
ONE_LINE = _OneLine()


def line(*, longest: int, shortest: int = 0, **options: Any) -> fields.String:
    """Return a field for one line that a person types: a name, a title, a tag, a code."""
    return text(longest=longest, shortest=shortest, validate=[ONE_LINE, *options.pop("validate", [])], **options)


class CleanedLine(fields.String):
    """One line that a program sends on: control characters and direction marks are taken out, and refuse nothing."""

    def __init__(self, *, longest: int, **options: Any) -> None:
        super().__init__(validate=[validate.Length(max=longest)], **options)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        return one_line.clean(str(super()._deserialize(value, *args, **kwargs)))


def bearer_secret(*, found_at: str, **options: Any) -> fields.String:
    """Return a field of an answer whose value opens something for any holder: a signed link, a token, a secret.

    Agents and models never receive it (`api.mcp.tools.withheld`); `found_at` is a sentence that tells them where
    a person finds it. An operation whose answer has one `shows_secret`.
    """
    return fields.String(metadata={**options.pop("metadata", {}), "found_at": found_at}, **options)


def color(**options: Any) -> fields.String:
    """Return a field for a colour: `#` and six hexadecimal digits."""
    return fields.String(validate=[_COLOR, validate.Length(min=7, max=7)], **options)


def whole(**options: Any) -> fields.Integer:
    """Return an integer field that takes neither "7" nor 7.0 nor true."""
    return fields.Integer(strict=True, **options)


class Flag(fields.Boolean):
    """A boolean that takes true and false, and neither 1 nor "yes"."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Amount(fields.Decimal):
    """A JSON number as an exact Decimal; neither a string nor a boolean."""

    #: How the database writes it (`models.listing.json_row`).
    form = "number"

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(repr(value), *args, **kwargs)

    @staticmethod
    def render(value: Decimal) -> int | float:
        """Return the number as JSON writes it: without a fraction when it has none."""
        return int(value) if value == value.to_integral_value() else float(value)


class Instant(fields.Field[datetime]):
    """An aware moment: shown in UTC with milliseconds; read from ISO 8601, without an offset as UTC."""

    #: How the database writes it (`models.listing.json_row`).
    form = "moment"

    # A row and what came with it were made in one moment, and a page of rows is rendered at once.
    @staticmethod
    @functools.lru_cache(maxsize=1024)
    def render(value: datetime) -> str:
        """Return the moment in UTC with milliseconds."""
        shown = (value if value.tzinfo is UTC else value.astimezone(UTC)).isoformat(timespec="milliseconds")
        return shown.removesuffix("+00:00") + "Z"

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> datetime:
        try:
            moment = datetime.fromisoformat(value)
            # PostgreSQL takes fewer offsets than Python, so it is told in UTC.
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValidationError("Not an ISO 8601 date or time.") from error


class Email(fields.Field[str]):
    """An email address, loaded trimmed and in lower case. Only its syntax is looked at."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        if not isinstance(value, str) or len(value) > _LONGEST_EMAIL:
            raise ValidationError("Not a valid email address.")
        try:
            # Without test_environment a .test address is refused, which would only break rehearsals.
            found = email_validator.validate_email(
                value.strip(), check_deliverability=False, strict=True, test_environment=True
            )
        except email_validator.EmailNotValidError as error:
            raise ValidationError("Not a valid email address.") from error
        if "." not in found.domain:
            raise ValidationError("Not a valid email address.")
        return found.normalized.lower()


def one_of(kinds: Iterable[str], **options: Any) -> fields.String:
    """Return a string field that takes exactly these values."""
    return fields.String(validate=validate.OneOf([str(kind) for kind in kinds]), **options)


def rate(**options: Any) -> Amount:
    """Return a field for a commission value: a number with at most six decimals."""
    return Amount(validate=_at_most_six_decimals, **options)


def from_base64(sent: str, key: str) -> bytes:
    """Return what a text in standard base64 holds. Raises ValidationError at `key`."""
    try:
        return base64.b64decode(sent, validate=True)
    except ValueError as error:  # not base64, or not even ASCII
        raise ValidationError("Not base64.", key) from error


def http_url(value: str) -> None:
    """Refuse what is not an absolute http(s) URL."""
    if not urls.is_http(value):
        raise ValidationError("It must be an http or https URL.")


def not_blank(value: str) -> None:
    """Refuse a text that is only white space."""
    if not value.strip():
        raise ValidationError("It must not be blank.")


def decimals(value: Decimal) -> int:
    """Return how many decimals a number has, trailing zeros apart."""
    exponent = value.normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # a JSON number is finite
    return max(-exponent, 0)


def _at_most_six_decimals(value: Decimal) -> None:
    if decimals(value) > 6:
        raise ValidationError("It may have at most 6 decimals.")
