"""Renders rows by a plan that is made once per schema, many times as fast as walking the fields for each row.

What comes out is what marshmallow would give. A field that is not known here renders itself, slowly and rightly.
Lists that the database renders (`models.listing.json_row`) are told by `wire` which keys they have, in which order.
Named tuples are rows as `models.listing` reads them, their ids texts already: only moments and exact numbers in them
are converted, and the rest is copied as a whole.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from marshmallow import Schema, fields, missing
from marshmallow.utils import get_value

Conversion = Callable[[Any], Any]

# What the database brings for them is on the wire as it is, or nearly so.
_PLAIN: dict[type[Any], Conversion | None] = {
    fields.String: str,
    fields.Integer: int,
    fields.Boolean: None,
    fields.Raw: None,
    fields.Dict: None,
    fields.UUID: str,
}


class RenderingPlan:
    """How one schema turns a row into an answer: attribute, key and conversion of each field."""

    def __init__(self, schema: Schema) -> None:
        self._constants: dict[str, Any] = {}
        self._steps: list[tuple[str, str, Conversion | None]] = []
        self._slow: list[tuple[str, str, fields.Field[Any]]] = []
        self._fields = schema.dump_fields
        for name, field in schema.dump_fields.items():
            key = field.data_key or name
            if isinstance(field, fields.Constant):
                self._constants[key] = field.constant
            elif _is_known(field):
                self._steps.append((field.attribute or name, key, _conversion(field)))
            else:
                self._slow.append((name, key, field))
        attributes = [attribute for attribute, _, _ in self._steps]
        # With one name attrgetter gives the value and not a tuple of it, so there is always a second one.
        self._values_of = attrgetter(*attributes, "__class__") if attributes else lambda _: ()
        self._layouts: dict[type[Any], _Layout] = {}

    def render(self, row: Any) -> dict[str, Any]:
        """Return one row (an object or a mapping) as the API shows it; what the row lacks is left out."""
        shown = self._quickly([row])[0] if hasattr(row, "_fields") else self._each(row)
        for name, key, field in self._slow:
            value = field.serialize(name, row, accessor=get_value)
            if value is not missing:
                shown[key] = value
        return shown

    def render_all(self, rows: Iterable[Any]) -> list[dict[str, Any]]:
        """Return several rows, all of one kind."""
        held = list(rows)
        if held and hasattr(held[0], "_fields") and not self._slow:
            return self._quickly(held)
        return [self.render(row) for row in held]

    @property
    def wire(self) -> tuple[tuple[str, str, str], ...]:
        """Return what the database has to know to render a row: each key with its attribute and the form of its value.

        Forms are "moment", "number", and "" for what is on the wire as it is. Raises TypeError where a field has none.
        """
        found = []
        for name, field in self._fields.items():
            key, form = field.data_key or name, _form(field)
            if form is None:
                raise TypeError(f"what does the database write for {key}?")
            found.append((key, field.attribute or name, form))
        return tuple(found)

    def _quickly(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        kind = type(rows[0])
        layout = self._layouts.get(kind)
        if layout is None:
            layout = self._layouts[kind] = self._layout(kind._fields)
        shown = []
        for row in rows:
            values = list(layout.select(row))
            for place, convert in layout.conversions:
                if values[place] is not None:
                    values[place] = convert(values[place])
            shown.append(dict(zip(layout.keys, values, strict=False), **self._constants))
        return shown

    def _layout(self, columns: Sequence[str]) -> "_Layout":
        held = [step for step in self._steps if step[0] in columns]
        places = [columns.index(attribute) for attribute, _, _ in held]
        conversions = [
            (place, convert)
            for place, (_, _, convert) in enumerate(held)
            if convert is not None and convert not in (str, int, list)
        ]
        # The first column again, which no key takes: with one place itemgetter gives no tuple.
        return _Layout([key for _, key, _ in held], itemgetter(*places, 0), conversions)

    def _each(self, row: Any) -> dict[str, Any]:
        shown = dict(self._constants)
        for (_, key, convert), value in zip(self._steps, self._values(row), strict=False):
            if value is not missing:
                shown[key] = value if convert is None or value is None else convert(value)
        return shown

    def _values(self, row: Any) -> Iterable[Any]:
        if type(row) is not dict:  # by far the most: rows and objects that have it all
            with suppress(AttributeError):
                found: Iterable[Any] = self._values_of(row)
                return found
        if isinstance(row, Mapping):
            return [row.get(attribute, missing) for attribute, _, _ in self._steps]
        return [getattr(row, attribute, missing) for attribute, _, _ in self._steps]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which places of a tuple are shown, under which keys, and what is converted."""

    keys: Sequence[str]
    select: Callable[[Any], tuple[Any, ...]]
    conversions: Sequence[tuple[int, Conversion]]


def _form(field: fields.Field[Any]) -> str | None:
    if isinstance(field, fields.List):
        return "" if _form(field.inner) == "" else None
    return "" if type(field) in _PLAIN else getattr(field, "form", None)


def _is_known(field: fields.Field[Any]) -> bool:
    if "." in (field.attribute or "") or field.dump_default is not missing:
        return False
    if isinstance(field, fields.List):
        return _is_known(field.inner)
    if isinstance(field, fields.Dict) and (field.key_field or field.value_field):
        return False
    return type(field) in _PLAIN or isinstance(field, fields.Nested) or hasattr(field, "render")


def _conversion(field: fields.Field[Any]) -> Conversion | None:
    own: Conversion | None = getattr(field, "render", None)
    if own is not None:
        return own
    if isinstance(field, fields.Nested):
        plan = RenderingPlan(field.schema)
        return plan.render_all if field.many else plan.render
    if isinstance(field, fields.List):
        inner = _conversion(field.inner)
        return list if inner is None else lambda values: [inner(value) for value in values]
    return _PLAIN.get(type(field))
