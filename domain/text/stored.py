"""Reads values back from JSON that another release may have written.

During a deployment two releases read each other's rows, jobs and cookies. A field that only the newer one knows is
ignored by the older one; a field that has a default may be absent.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


def read(kind: type[Value], stored: Mapping[str, Any]) -> Value:
    """Return a dataclass or a NamedTuple of these fields; those that it does not have are ignored.

    Raises TypeError where one is missing that has no default.
    """
    names = getattr(kind, "_fields", None) or [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: value for name, value in stored.items() if name in names})
