"""All error codes, with the operations that declare them, their statuses and their meanings."""

from collections.abc import Iterable
from dataclasses import dataclass

from api.description.page import OperationEntry
from api.description.responses import EDGE_CODES
from schemas import refusals


@dataclass(frozen=True, slots=True)
class Code:
    """A code, its statuses, its meaning (CommonMark), and the operations that declare it; none: any may answer it."""

    name: str
    statuses: tuple[str, ...]
    sentence: str
    operations: tuple[OperationEntry, ...]


def list_codes(entries: Iterable[OperationEntry]) -> list[Code]:
    """Return the codes that these operations declare and those that any operation may answer, by name."""
    statuses: dict[str, set[str]] = {code: {str(status)} for status, codes in EDGE_CODES.items() for code in codes}
    declared: dict[str, list[OperationEntry]] = {}
    for entry in entries:
        for status, codes in entry.refusals:
            for code in codes:
                statuses.setdefault(code, set()).add(status)
                declared.setdefault(code, []).append(entry)
    common = {code for codes in EDGE_CODES.values() for code in codes}
    return [
        Code(
            name=name,
            statuses=tuple(sorted(statuses[name])),
            sentence=refusals.sentences().get(name, ""),
            operations=() if name in common else tuple({entry.id: entry for entry in declared[name]}.values()),
        )
        for name in sorted(statuses)
    ]
