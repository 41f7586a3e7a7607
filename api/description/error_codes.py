"""Every error code there is: which operations declare it, with which status, and what it means."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

from api.description.answers import EDGE_CODES
from api.description.page import OperationEntry


@dataclass(frozen=True, slots=True)
class Code:
    """A code, its statuses, what it means (CommonMark), and the operations that declare it; none: any may answer it."""

    name: str
    statuses: tuple[str, ...]
    sentence: str
    operations: tuple[OperationEntry, ...]


def table(entries: Iterable[OperationEntry]) -> list[Code]:
    """Return the codes that these operations declare and those of the edge, by name."""
    statuses: dict[str, set[str]] = {code: {str(status)} for status, codes in EDGE_CODES.items() for code in codes}
    declared: dict[str, list[OperationEntry]] = {}
    for entry in entries:
        for status, codes in entry.refusals:
            for code in codes:
                statuses.setdefault(code, set()).add(status)
                declared.setdefault(code, []).append(entry)
    edge = {code for codes in EDGE_CODES.values() for code in codes}
    return [
        Code(
            name=name,
            statuses=tuple(sorted(statuses[name])),
            sentence=sentences().get(name, ""),
            operations=() if name in edge else tuple({entry.id: entry for entry in declared[name]}.values()),
        )
        for name in sorted(statuses)
    ]


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
