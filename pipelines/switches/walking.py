"""Which list of a source is read next, from where, and the step from the last list to judging."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from adapters.switches.base import Source, SourceList, SwitchContext
from domain.switches import lists
from domain.switches.lists import ListPosition
from domain.switches.reasons import SwitchWarning
from domain.switches.sources import Collection
from domain.switches.states import JUDGE, RECHECK
from models.switches import switches
from models.switches.judgement import judging_state
from models.switches.staging import read_rows, reading
from models.switches.staging.reading import SwitchList
from models.switches.switches import Switch
from pipelines.switches import steps


@dataclass(frozen=True, slots=True)
class ListStep:
    """The next page to request: the list as the source names it, and how far it is read."""

    walked: SourceList
    row: SwitchList

    @property
    def stage(self) -> str:
        """The stage of a switch that reads it."""
        return self.row.collection if self.row.walk == 1 else RECHECK


def start(switch: Switch, source: Source, context: SwitchContext, *, now: datetime) -> None:
    """Stage the lists and collections of a locked switch; nothing of them is read. Source files have no lists."""
    source_lists = source.lists(context)
    if source_lists:
        reading.stage_lists(
            **switch.key,
            lists=[(each.name, each.collection.value) for each in source_lists],
        )
        reading.stage_no_figures(**switch.key)
    collections = [each for each in Collection if each in source.info.collections]
    reading.stage_collections(**switch.key, collections=collections, reading_at=now if source_lists else None)


def find_next(
    switch: Switch, source: Source, context: SwitchContext, rows: Sequence[SwitchList], *, now: datetime
) -> ListStep | None:
    """Return the next page to request, and stage what changes of the lists; None: all of them are read."""
    by_name = {each.name: each for each in source.lists(context)}
    # A mapping that was changed meanwhile may leave a list out.
    walked_rows = [(by_name[row.name], row) for row in rows if row.name in by_name]
    for walked, row in walked_rows:
        if row.walk == 1 and not row.is_done and (step := _begin(switch, walked, row, now=now)):
            return step
    for walked, row in walked_rows:
        if not row.is_done and row.walk > 1 and (step := _begin(switch, walked, row, now=now)):
            return step
        again = row.is_done and lists.next_walk(
            get_position(row), moves=walked.moves, is_of_parents=walked.of_parents is not None
        )
        if again and (step := _begin(switch, walked, with_position(row, again), now=now)):
            return step
    return None


def begin_judging(switch: Switch, source: Source, context: SwitchContext, *, now: datetime, **changes: Any) -> Switch:
    """Record what the totals of the source say, and stage judging from the first row. `changes` are further columns."""
    _stage_moved_warnings(switch, source.lists(context))
    judging_state.stage_reset(**switch.key)
    steps.stage_judge(**switch.key)
    return switches.update(switch, {"stage": JUDGE, "read_at": now, "touched_at": now, **changes})


def find_parent(switch: Switch, walked: SourceList, row: SwitchList) -> str | None:
    """Return the next row for which a list is requested; None after the last one.

    In its second walk a list that does not move is requested for rows that were added since the first began.
    """
    assert walked.of_parents is not None
    is_again = row.walk > 1 and walked.moves != "unknown"
    return read_rows.find_next_parent(
        **switch.key,
        collection=walked.of_parents,
        after=row.parent,
        reading_at=reading_began_at(switch),
        added_since=row.started_at if is_again else None,
    )


def reading_began_at(switch: Switch) -> datetime:
    """Return when the present reading of a switch began."""
    assert switch.reading_at is not None  # it is Reading
    return switch.reading_at


def get_position(row: SwitchList) -> ListPosition:
    """Return the position of a stored list."""
    return ListPosition(
        row.cursor, row.parent, row.walk, row.new_rows, row.is_done, row.total, row.idle_pages, row.pages_back
    )


def with_position(row: SwitchList, position: ListPosition) -> SwitchList:
    """Return a stored list at another position."""
    return replace(
        row,
        cursor=position.cursor,
        parent=position.parent,
        walk=position.walk,
        new_rows=position.new_rows,
        is_done=position.is_done,
        total=position.total,
        idle_pages=position.idle_pages,
        pages_back=position.pages_back,
    )


def _begin(switch: Switch, walked: SourceList, row: SwitchList, *, now: datetime) -> ListStep | None:
    """Return the step at a list that is not done; None if it is requested for rows of another list that has no rows."""
    begun = row if row.started_at else replace(row, started_at=now)
    if walked.of_parents is not None and begun.parent is None:
        begun = with_position(begun, lists.next_parent(get_position(begun), find_parent(switch, walked, begun)))
    if begun.is_done and begun.walk == 1:
        begun = replace(begun, walked_at=now)
    reading.stage_list(**switch.key, changed=begun)
    return None if begun.is_done else ListStep(walked, begun)


def _stage_moved_warnings(switch: Switch, source_lists: Sequence[SourceList]) -> None:
    """Stage a warning for each collection of which other rows were read than its lists' last totals say."""
    key = switch.key
    by_name = {each.name: each for each in source_lists}
    rows_of: dict[str, list[SwitchList]] = {}
    for row in reading.list_lists(**key):
        if row.name in by_name:
            rows_of.setdefault(row.collection, []).append(row)
    for collection, rows in rows_of.items():
        total = sum_totals(rows, by_name)
        if total is None:
            continue
        read = read_rows.count_read(**key, collection=collection, reading_at=reading_began_at(switch))
        if read != total:
            warning = {
                "code": SwitchWarning.MovedWhileRead.value,
                "count": abs(read - total),
                "example": f"{collection}: {read} rows were read, the source counts {total}",
            }
            changed = replace(rows[0], warnings=[*rows[0].warnings, warning])
            reading.stage_list(**key, changed=changed)


def sum_totals(rows: Sequence[SwitchList], by_name: Mapping[str, SourceList]) -> int | None:
    """Return the source's total of a collection from its lists; None unless each tells one of the rows it brings."""
    totals = [
        None if by_name[row.name].of_parents or by_name[row.name].leaves_rows_out else row.total
        for row in rows
        if row.name in by_name
    ]
    stated = [total for total in totals if total is not None]
    return sum(stated) if stated and len(stated) == len(totals) else None
