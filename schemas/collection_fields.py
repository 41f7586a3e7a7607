"""Lists, and objects with keys of the caller's choice, whose size is checked before their items are loaded.

A caller chooses their size, and each item that is loaded, or refused with a message of its own, costs time.
"""

from collections.abc import Callable, Mapping, Sized
from typing import Any
from uuid import UUID

from marshmallow import ValidationError, fields, validate

from domain.refusals import Refused

# With and without hyphens, in braces, and as a URN, as `uuid.UUID` accepts them.
_ID_CHARACTERS = range(32, 48)
_NO_ID: list[Any] = [fields.UUID.default_error_messages["invalid_uuid"]]
_NULL: list[Any] = [fields.Field.default_error_messages["null"]]


class Items(fields.List[Any]):
    """A list of at most `most` and at least `least` items; `refusal` returns the refusal of a longer list."""

    def __init__(
        self,
        item: Any,
        *,
        most: int,
        least: int | None = None,
        refusal: Callable[[], Refused] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(item, validate=validate.Length(min=least, max=most), **options)
        self.most = most
        self.refusal = refusal

    def deserialize_until_error(self, value: Any, attr: str, data: Mapping[str, Any]) -> Any:
        """Return the result of `deserialize`, but stop at the first invalid item.

        `deserialize` creates an error for each invalid item, which costs more than the rest of a request. A caller that
        calls `deserialize` for the errors afterwards only needs to know that there is one.
        """
        if type(value) is not list or len(value) > self.most or self.pre_load or self.post_load:
            return self.deserialize(value, attr, data)
        if type(self.inner) is fields.UUID:
            items: list[Any] = _load_ids(value, max_errors=1)
        else:
            items = [self.inner.deserialize(item) for item in value]
        self._validate(items)
        return items

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> list[Any]:
        if isinstance(value, list) and len(value) > self.most and self.refusal is not None:
            raise self.refusal()
        if isinstance(value, list):
            _check_count(value, self.most, "items")
            if type(self.inner) is fields.UUID:
                return _load_ids(value)
        return super()._deserialize(value, attr, data, **options)


def _load_ids(values: list[Any], *, max_errors: int | None = None) -> list[UUID]:
    """Return ids as `fields.UUID` loads them, in a third of its time. Raises ValidationError by position."""
    loaded, errors = list[UUID](), dict[str | int, list[Any]]()
    for place, item in enumerate(values):
        if type(item) is str and len(item) in _ID_CHARACTERS:
            try:
                loaded.append(UUID(item))
                continue
            except ValueError:
                pass
        errors[place] = _NULL if item is None else _NO_ID
        if len(errors) == max_errors:
            break
    if errors:
        raise ValidationError(errors, valid_data=loaded)
    return loaded


class Entries(fields.Dict):
    """An object of at most `most` and at least `least` keys, which its sender chooses."""

    def __init__(self, *, most: int, least: int | None = None, **options: Any) -> None:
        super().__init__(validate=validate.Length(min=least, max=most), **options)
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:
        if isinstance(value, Mapping):
            _check_count(value, self.most, "keys")
        return super()._deserialize(value, attr, data, **options)


def _check_count(value: Sized, most: int, unit: str) -> None:
    if len(value) > most:
        raise ValidationError(f"It has {len(value)} {unit}; at most {most} are allowed.")
