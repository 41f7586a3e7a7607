"""What each error code means, by `error_codes.txt`."""

import functools
from collections.abc import Mapping
from importlib import resources


@functools.cache
def sentences() -> Mapping[str, str]:
    """Return what each code means. Raises ValueError when one stands twice in `schemas/error_codes.txt`."""
    found: dict[str, str] = {}
    for line in resources.files("schemas").joinpath("error_codes.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            code, _, sentence = (part.strip() for part in line.partition("|"))
            if code in found:
                raise ValueError(f"{code} stands twice in schemas/error_codes.txt")
            found[code] = sentence
    return found
