"""Rotation of SECRET_KEY: values sealed with former keys are resealed with the current one, slice by slice.

It may be stopped and restarted at any time, also by several processes: a value that the current key opens stays as it
is, and each transaction writes whole values of a few rows. docs/decisions/0016 describes all effects of a new key.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adapters.secret_key import sealing
from models import advisory_locks, db
from models.upkeep import sealed_rows
from models.upkeep.sealed_rows import SealedKind, SealedRow

#: How many unreadable values are listed.
MAX_LISTED = 5


@dataclass(slots=True)
class SealCount:
    """How many values of a kind are sealed with the current key, with a former one, or with no key that we have.

    `unreadable` lists the first rows of the last group.
    """

    kind: str
    current: int = 0
    former: int = 0
    neither: int = 0
    unreadable: tuple[str, ...] = ()


class UnreadableValues(Exception):
    """None of our keys opens some values; nothing was written."""

    def __init__(self, counts: list[SealCount]) -> None:
        unreadable = "; ".join(
            f"{count.neither} among the {count.kind} ({', '.join(count.unreadable)}"
            f"{', …' if count.neither > len(count.unreadable) else ''})"
            for count in counts
            if count.neither
        )
        super().__init__(
            f"Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens {unreadable}. Nothing was written. "
            "List the key that sealed them in SECRET_KEY_PREVIOUS; --leave-unreadable skips values that no key opens."
        )


def status() -> list[SealCount]:
    """Return how all values are sealed, kind by kind. Opens its own transactions, one per slice."""
    return [_count(kind) for kind in sealed_rows.KINDS]


def reseal(*, leave_unreadable: bool, on_progress: Callable[[str, int], None]) -> dict[str, int]:
    """Reseal values of former keys with the current one; return how many of each kind.

    Opens its own transactions, one per slice. `on_progress` gets a kind and its running total after each slice.
    Rows that another transaction has locked are skipped (`status` still counts them).
    Raises UnreadableValues before anything is written.
    """
    counts = status()
    if not leave_unreadable and any(count.neither for count in counts):
        raise UnreadableValues(counts)
    return {kind.name: _reseal_kind(kind, on_progress) for kind in sealed_rows.KINDS}


def _count(kind: SealedKind) -> SealCount:
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
                if len(count.unreadable) < MAX_LISTED:
                    count.unreadable += (" ".join(map(_text_from_key_part, row.key)),)
    return count


def _reseal_kind(kind: SealedKind, on_progress: Callable[[str, int], None]) -> int:
    number, after = 0, None
    while True:
        with db.any_org_work():
            # A row has values of several kinds; another transaction may be resealing one of them.
            advisory_locks.any_org_stage_reseal_lock()
            rows = sealed_rows.any_org_read_slice(kind, after=after, is_to_change=True)
            number += sum(_reseal_row(kind, row) for row in rows)
        if not rows:
            return number
        after = rows[-1].key
        on_progress(kind.name, number)


def _reseal_row(kind: SealedKind, row: SealedRow) -> bool:
    try:
        sealed = sealing.reseal(row.sealed, belongs_to=row.belongs_to)
    except sealing.CannotUnseal:
        return False
    if sealed is None:
        return False
    sealed_rows.any_org_stage_sealed(kind, key=row.key, sealed=sealed)
    return True


def _text_from_key_part(part: object) -> str:
    return bytes(part).hex() if isinstance(part, memoryview) else str(part)


def _slices(kind: SealedKind) -> Iterator[list[SealedRow]]:
    after = None
    while True:
        with db.any_org_work():
            rows = sealed_rows.any_org_read_slice(kind, after=after, is_to_change=False)
        if not rows:
            return
        yield rows
        after = rows[-1].key
