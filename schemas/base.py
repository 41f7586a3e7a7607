"""What every schema shares: camelCase on the wire, unknown fields tolerated, no silent coercion.

Source: core spec, section 2 (clients may send and must tolerate unknown fields); ids are UUIDs, money is strict
integers in minor units, moments are ISO 8601 with an offset.
"""

from typing import Any

from marshmallow import EXCLUDE, Schema, ValidationError, fields, validate


class Wire(Schema):
    """A JSON object. Attribute names are snake_case, keys are their camelCase."""

    class Meta:
        unknown = EXCLUDE

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

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(repr(value), *args, **kwargs)
