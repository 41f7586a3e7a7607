"""All error codes, with the operations that declare them, their statuses, their meanings and what to do about them."""

from collections.abc import Iterable
from dataclasses import dataclass

from api.description.page import OperationEntry
from api.description.responses import EDGE_CODES, TOOL_CODES
from domain.gateways.names import Gateway
from schemas import refusals

_GATEWAY = "{gateway}"
_OF_TOOLS = "tool call"


@dataclass(frozen=True, slots=True)
class Code:
    """A code, its statuses, what happened and what to do (CommonMark), and the operations that declare it.

    Without operations any operation may answer it. `anchors` are the codes that a response has in place of `name`.
    """

    name: str
    statuses: tuple[str, ...]
    sentence: str
    remedy: str
    operations: tuple[OperationEntry, ...]
    anchors: tuple[str, ...]


def list_codes(entries: Iterable[OperationEntry]) -> list[Code]:
    """Return the codes that these operations declare and those that any operation may answer, by name."""
    statuses: dict[str, set[str]] = {code: {str(status)} for status, codes in EDGE_CODES.items() for code in codes}
    statuses |= {code: {_OF_TOOLS} for code in TOOL_CODES}
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
            remedy=refusals.remedies().get(name, ""),
            operations=() if name in common else tuple({entry.id: entry for entry in declared.get(name, [])}.values()),
            anchors=tuple(name.replace(_GATEWAY, gateway) for gateway in Gateway) if _GATEWAY in name else (name,),
        )
        for name in sorted(statuses)
    ]
