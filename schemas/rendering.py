"""Fast rendering of rows by a plan built once per schema, many times faster than marshmallow's field by field.

The result is the same as marshmallow's. Unknown kinds of fields use their own, slower `serialize`. `wire` gives the
keys and their order for lists that the database renders (`models.listing.json_row`). Named tuples are rows of
`models.listing` with ids as texts: only times and exact numbers in them are converted, the rest is copied as a whole.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from marshmallow import Schema, fields, missing
from marshmallow.utils import get_value

Conversion = Callable[[Any], Any]

# Their values need no conversion, or a simple one.
_PLAIN: dict[type[Any], Conversion | None] = {
    fields.String: str,
    fields.Integer: int,
    fields.Boolean: None,
    fields.Raw: None,
    fields.Dict: None,
    fields.UUID: str,
}


class RenderingPlan:
    """The plan of one schema: attribute, key and conversion of each field."""

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
        # With one name attrgetter returns the value and not a tuple, so there is always a second one.
        self._values_of = attrgetter(*attributes, "__class__") if attributes else lambda _: ()
        self._layouts: dict[type[Any], _Layout] = {}

    def render(self, row: Any) -> dict[str, Any]:
        """Return one row (an object or a mapping) as the API shows it; missing attributes are left out."""
        record = self._render_tuples([row])[0] if hasattr(row, "_fields") else self._render_object(row)
        for name, key, field in self._slow:
            value = field.serialize(name, row, accessor=get_value)
            if value is not missing:
                record[key] = value
        return record

    def render_all(self, rows: Iterable[Any]) -> list[dict[str, Any]]:
        """Return several rows, all of one kind."""
        items = list(rows)
        if items and hasattr(items[0], "_fields") and not self._slow:
            return self._render_tuples(items)
        return [self.render(row) for row in items]

    @property
    def wire(self) -> tuple[tuple[str, str, str], ...]:
        """Return each key of a row that the database renders, with its attribute and the form of its value, in order.

        Forms are "moment", "number", and "" for an unconverted value. Raises TypeError for a field without a form.
        """
        keys = []
        for name, field in self._fields.items():
            key, form = field.data_key or name, _form(field)
            if form is None:
                raise TypeError(f"the database has no form for {key}")
            keys.append((key, field.attribute or name, form))
        return tuple(keys)

    def _render_tuples(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        kind = type(rows[0])
        layout = self._layouts.get(kind)
        if layout is None:
            layout = self._layouts[kind] = self._build_layout(kind._fields)
        records = []
        for row in rows:
            values = list(layout.select(row))
            for place, convert in layout.conversions:
                if values[place] is not None:
                    values[place] = convert(values[place])
            records.append(dict(zip(layout.keys, values, strict=False), **self._constants))
        return records

    def _build_layout(self, columns: Sequence[str]) -> "_Layout":
        steps = [step for step in self._steps if step[0] in columns]
        places = [columns.index(attribute) for attribute, _, _ in steps]
        conversions = [
            (place, convert)
            for place, (_, _, convert) in enumerate(steps)
            if convert is not None and convert not in (str, int, list)
        ]
        # The first column again, for no key: with one place itemgetter returns no tuple.
        return _Layout([key for _, key, _ in steps], itemgetter(*places, 0), conversions)

    def _render_object(self, row: Any) -> dict[str, Any]:
        record = dict(self._constants)
        for (_, key, convert), value in zip(self._steps, self._values(row), strict=False):
            if value is not missing:
                record[key] = value if convert is None or value is None else convert(value)
        return record

    def _values(self, row: Any) -> Iterable[Any]:
        if type(row) is not dict:  # the common case: rows and objects with all attributes
            with suppress(AttributeError):
                values: Iterable[Any] = self._values_of(row)
                return values
        if isinstance(row, Mapping):
            return [row.get(attribute, missing) for attribute, _, _ in self._steps]
        return [getattr(row, attribute, missing) for attribute, _, _ in self._steps]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The rendered places of a tuple, their keys, and the conversions."""

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
