"""Lists, and objects with keys of the caller's choice: counted before anything in them is loaded.

A caller chooses how long they are, and each item that is loaded, or refused with a message of its own, costs time.
"""

from collections.abc import Callable, Mapping, Sized
from typing import Any

from marshmallow import ValidationError, fields, validate

from domain.refused import Refused


class Items(fields.List[Any]):
    """A list of at most `most` items, and at least `least`; `refusal` returns what a longer list is refused with."""

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

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> list[Any]:
        if isinstance(value, list) and len(value) > self.most and self.refusal is not None:
            raise self.refusal()
        if isinstance(value, list):
            _check_count(value, self.most, "items")
        return super()._deserialize(value, attr, data, **options)


class Entries(fields.Dict):
    """An object of at most `most` keys that its sender chooses, and at least `least`."""

    def __init__(self, *, most: int, least: int | None = None, **options: Any) -> None:
        super().__init__(validate=validate.Length(min=least, max=most), **options)
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:
        if isinstance(value, Mapping):
            _check_count(value, self.most, "keys")
        return super()._deserialize(value, attr, data, **options)


def _check_count(value: Sized, most: int, of_what: str) -> None:
    if len(value) > most:
        raise ValidationError(f"It has {len(value)} {of_what}, and takes at most {most}.")
