"""A new SECRET_KEY: what former ones sealed is sealed with it, slice by slice.

It may be stopped and started at any time, also by several at once: a value that the key in force opens stays as it is,
and each transaction writes whole values of a few rows. docs/decisions/0016 says what a new key does to everything else.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adapters import sealing
from models import advisory_locks, db
from models.upkeep import sealed_rows
from models.upkeep.sealed_rows import SealedKind, SealedRow

#: How many unreadable values are named.
MOST_NAMED = 5


@dataclass(slots=True)
class SealCount:
    """How the values of a kind are sealed: with the key in force, with a former one, or with none that we have.

    `unreadable` names the first rows of the last sort.
    """

    kind: str
    current: int = 0
    former: int = 0
    neither: int = 0
    unreadable: tuple[str, ...] = ()


class UnreadableValues(Exception):
    """Some values open with none of our keys, and nothing was written."""

    def __init__(self, counts: list[SealCount]) -> None:
        found = "; ".join(
            f"{count.neither} among the {count.kind} ({', '.join(count.unreadable)}"
            f"{', …' if count.neither > len(count.unreadable) else ''})"
            for count in counts
            if count.neither
        )
        super().__init__(
            f"Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens {found}. Nothing was written. "
            "List the key that sealed them in SECRET_KEY_PREVIOUS; what no key opens any more is left with "
            "--leave-unreadable."
        )


def status() -> list[SealCount]:
    """Return how everything is sealed, kind by kind. Opens transactions of its own, one per slice."""
    return [_counted(kind) for kind in sealed_rows.KINDS]


def reseal(*, leave_unreadable: bool, tell: Callable[[str, int], None]) -> dict[str, int]:
    """Seal what former keys sealed with the one in force; return how many values of each kind that were.

    Opens transactions of its own, one per slice. `tell` hears after each slice how many of a kind it has been so far.
    Rows that somebody is at work on are left for another time (`status` shows them).
    Raises UnreadableValues before anything is written.
    """
    counts = status()
    if not leave_unreadable and any(count.neither for count in counts):
        raise UnreadableValues(counts)
    return {kind.name: _resealed(kind, tell) for kind in sealed_rows.KINDS}


def _counted(kind: SealedKind) -> SealCount:
    count = SealCount(kind.name)
    for rows in _slices(kind):
        for row in rows:
            try:
                if sealing.is_current(row.sealed, belongs_to=row.belongs_to):
                    count.current += 1
                else:
                    count.former += 1
            except sealing.CannotUnseal:
                count.neither += 1
                if len(count.unreadable) < MOST_NAMED:
                    count.unreadable += (" ".join(map(_named, row.key)),)
    return count


def _resealed(kind: SealedKind, tell: Callable[[str, int], None]) -> int:
    number, after = 0, None
    while True:
        with db.any_org_work():
            # A row has values of several kinds, and another transaction may be resealing one of them.
            advisory_locks.any_org_stage_reseal_lock()
            rows = sealed_rows.any_org_slice(kind, after=after, is_to_change=True)
            number += sum(_is_resealed(kind, row) for row in rows)
        if not rows:
            return number
        after = rows[-1].key
        tell(kind.name, number)


def _is_resealed(kind: SealedKind, row: SealedRow) -> bool:
    try:
        sealed = sealing.reseal(row.sealed, belongs_to=row.belongs_to)
    except sealing.CannotUnseal:
        return False
    if sealed is None:
        return False
    sealed_rows.any_org_stage_sealed(kind, key=row.key, sealed=sealed)
    return True


def _named(part: object) -> str:
    return bytes(part).hex() if isinstance(part, memoryview) else str(part)


def _slices(kind: SealedKind) -> Iterator[list[SealedRow]]:
    after = None
    while True:
        with db.any_org_work():
            rows = sealed_rows.any_org_slice(kind, after=after, is_to_change=False)
        if not rows:
            return
        yield rows
        after = rows[-1].key
