"""The meaning of each error code, from `error_codes.txt`."""

import functools
from collections.abc import Mapping
from importlib import resources


@functools.cache
def sentences() -> Mapping[str, str]:
    """Return a sentence by code. Raises ValueError if a code occurs twice in `schemas/error_codes.txt`."""
    by_code: dict[str, str] = {}
    for line in resources.files("schemas").joinpath("error_codes.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            code, _, sentence = (part.strip() for part in line.partition("|"))
            if code in by_code:
                raise ValueError(f"{code} occurs twice in schemas/error_codes.txt")
            by_code[code] = sentence
    return by_code
