"""The meaning of each error code, from `error_codes.txt`, and what to do about it, from `error_remedies.txt`."""

import functools
from collections.abc import Mapping
from importlib import resources


@functools.cache
def sentences() -> Mapping[str, str]:
    """Return what happened, by code. Raises ValueError if a code occurs twice in `schemas/error_codes.txt`."""
    return _read_lines("error_codes.txt")


@functools.cache
def remedies() -> Mapping[str, str]:
    """Return what to do, by code. Raises ValueError if a code occurs twice in `schemas/error_remedies.txt`."""
    return _read_lines("error_remedies.txt")


def _read_lines(name: str) -> Mapping[str, str]:
    by_code: dict[str, str] = {}
    for line in resources.files("schemas").joinpath(name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            code, _, sentence = (part.strip() for part in line.partition("|"))
            if code in by_code:
                raise ValueError(f"{code} occurs twice in schemas/{name}")
            by_code[code] = sentence
    return by_code
