"""The slice of a collection that a job takes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from domain.switches import decision_json
from models.switches.switches import Switch
from models.switches.undo.slices import RowToUndo

Decision = TypeVar("Decision", bound=Any)


@dataclass(frozen=True, slots=True)
class UndoSlice:
    """Written rows of one collection; `imports` are the ids of the switch's imports by kind. The run began `since`."""

    switch: Switch
    rows: Sequence[RowToUndo]
    imports: Mapping[str, UUID]
    since: datetime
    now: datetime

    @property
    def organization_id(self) -> UUID:
        """The organization."""
        return self.switch.organization_id

    def read(self, kind: type[Decision]) -> list[tuple[RowToUndo, Decision]]:
        """Return the rows with their decisions."""
        return [(row, decision_json.read(kind, row.decision)) for row in self.rows]
