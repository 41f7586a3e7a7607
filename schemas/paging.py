"""The query parameters that every list takes.

Source: core spec, section 8 "Limits" (page size take, cursor).
"""

import re
from typing import Any

from marshmallow import ValidationError, fields, validate

from schemas.base import Wire, text

_DIGITS = re.compile(r"[0-9]{1,30}")
#: Deeper pages need a cursor, since skipping rows reads them all.
MAX_SKIP = 1_000_000


class QueryInteger(fields.Field[int]):
    """A whole number, not negative, in a query string."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> int:
        if not isinstance(value, str) or not _DIGITS.fullmatch(value):
            raise ValidationError("Not a whole number.")
        return int(value)


class QueryFlag(fields.Field[bool]):
    """`true` or `false` in a query string."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> bool:
        if value not in ("true", "false"):
            raise ValidationError("It must be true or false.")
        return bool(value == "true")


class PageQuery(Wire):
    """`take` (None: the list's default) and `cursor` (None: the first page)."""

    take = QueryInteger(load_default=None, validate=validate.Range(min=1))
    cursor = text(longest=200, load_default=None)


class SkippingPageQuery(PageQuery):
    """A page that can also be reached by `skip`; a cursor wins."""

    skip = QueryInteger(load_default=0, validate=validate.Range(min=0, max=MAX_SKIP))
