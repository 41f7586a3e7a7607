"""Reads values from JSON that another release may have written.

During a deployment two releases read each other's rows, jobs and cookies. The older one ignores fields that only the
newer one knows; a field with a default may be missing.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


def read(kind: type[Value], stored: Mapping[str, Any]) -> Value:
    """Return a dataclass or a NamedTuple with these values; unknown fields are ignored.

    Raises TypeError if a field without a default is missing.
    """
    names = getattr(kind, "_fields", None) or [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: value for name, value in stored.items() if name in names})
