"""Judges what was read, slice by slice: rows are understood, then each gets a verdict; at the end the preview."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from domain.switches.sources import SLICE_ROWS, WRITTEN, Collection
from domain.switches.states import JUDGE, SwitchState
from models.switches import switches
from models.switches.judgement import items, judging_state
from models.switches.judgement.items import Item
from models.switches.judgement.judging_state import JudgingCursor
from pipelines.switches import steps
from pipelines.switches.judgement import (
    affiliate_verdicts,
    code_verdicts,
    commission_verdicts,
    customer_verdicts,
    default_slugs,
    figure_comparison,
    link_verdicts,
    preview,
    refund_verdicts,
    tallies,
)
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding import context, slices
from pipelines.switches.understanding.context import Judging

_UNDERSTOOD = (*WRITTEN, Collection.Payouts)
_CLEARED_AT_ONCE = 20_000
_DONE = "done"

Judge = Callable[[Judging, Sequence[Item]], list[ItemVerdict]]


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk through a collection. Without `judge` it chooses default slugs. `is_negative`: which commissions."""

    collection: Collection
    name: str
    judge: Judge | None
    is_negative: bool | None = None


# Customers come after the commissions, from which their first payment follows, and links after all affiliates.
_WALKS = (
    _Walk(Collection.Affiliates, "verdicts", affiliate_verdicts.judge),
    _Walk(Collection.Links, "verdicts", link_verdicts.judge),
    _Walk(Collection.Affiliates, "slugs", None),
    _Walk(Collection.Codes, "verdicts", code_verdicts.judge),
    _Walk(Collection.Commissions, "sales", commission_verdicts.judge, is_negative=False),
    _Walk(Collection.Commissions, "refunds", refund_verdicts.judge, is_negative=True),
    _Walk(Collection.Customers, "verdicts", customer_verdicts.judge),
)


def judge_next(*, organization_id: UUID, switch_id: UUID, now: datetime) -> None:
    """Judge the next slice of a switch that is Reading at stage `judge`, and stage the next one; else do nothing.

    After the last slice the preview is stored and the switch is Ready. A switch that is judged again starts
    from the first row.
    """
    switch = switches.lock(organization_id=organization_id, switch_id=switch_id)
    if switch is None or switch.state != SwitchState.Reading or switch.stage != JUDGE:
        return
    judging = context.load(switch, now=now)
    cursors = judging_state.list_cursors(**judging.switch.key)
    is_done = _clear(judging, cursors) or _understand_next(judging, cursors) or _judge_next(judging, cursors)
    if is_done or figure_comparison.compare_next(judging, cursors):
        switches.update(switch, {"touched_at": now})
        steps.stage_judge(**judging.switch.key)
        judging_state.stage_refresh_statistics()
        return
    switches.update(
        switch,
        {
            "preview": preview.build(judging, cursors),
            "state": SwitchState.Ready,
            "stage": None,
            "read_at": switch.read_at or now,
            "touched_at": now,
        },
    )
    judging_state.stage_reset(**judging.switch.key)


def _clear(judging: Judging, cursors: Mapping[str, JudgingCursor]) -> bool:
    """Delete the next items of an earlier judgement; return False if judging has begun already."""
    is_begun = any(row.normalized_to is not None for row in cursors.values())
    if is_begun and set(_UNDERSTOOD) <= set(cursors):
        return False
    if items.clear(**judging.switch.key, limit=_CLEARED_AT_ONCE) == _CLEARED_AT_ONCE:
        return True
    judging_state.stage_ensure(**judging.switch.key, collections=list(Collection))
    judging_state.stage_understood(**judging.switch.key, collection=Collection.Affiliates, cursor="")
    return True


def _understand_next(judging: Judging, cursors: Mapping[str, JudgingCursor]) -> bool:
    """Understand the next slice of raw rows; return False if all are understood."""
    for collection in _UNDERSTOOD:
        cursor = cursors[collection].normalized_to or ""
        if cursor == _DONE_ID:
            continue
        rows = judging_state.list_raw_rows(
            **judging.switch.key,
            collection=collection,
            reading_at=judging.rows_since,
            after=cursor,
            limit=SLICE_ROWS,
        )
        slices.understand_slice(judging, collection, rows)
        is_last = len(rows) < SLICE_ROWS
        judging_state.stage_understood(
            **judging.switch.key, collection=collection, cursor=_DONE_ID if is_last else rows[-1].source_id
        )
        return True
    return False


# After every source id in byte order.
_DONE_ID = "\U0010ffff"


def _judge_next(judging: Judging, cursors: Mapping[str, JudgingCursor]) -> bool:
    """Judge the next slice of the next walk; return False if all are done."""
    for walk in _WALKS:
        after = _parse_cursor(walk, cursors[walk.collection].judged_to)
        if after is None:
            continue
        rows, next_after = items.list_slice(
            **judging.switch.key,
            collection=walk.collection,
            after=after,
            limit=SLICE_ROWS,
            is_negative=walk.is_negative,
        )
        tally = _judge_slice(judging, walk, rows, cursors[walk.collection].tally)
        cursor = _cursor_after(walk) if next_after is None else f"{walk.name}:{next_after}"
        judging_state.stage_judged(**judging.switch.key, collection=walk.collection, cursor=cursor, tally=tally)
        return True
    return False


def _judge_slice(judging: Judging, walk: _Walk, rows: Sequence[Item], tally: Mapping[str, Any]) -> Mapping[str, Any]:
    if walk.judge is None:
        default_slugs.choose(judging, rows)
        return tally
    judged = walk.judge(judging, rows)
    items.stage_verdicts(
        **judging.switch.key, collection=walk.collection, verdicts=[verdict.to_row() for verdict in judged]
    )
    first_of_payments = None
    if walk.collection == Collection.Commissions:
        first_of_payments = commission_verdicts.find_first_of_payments(judging, rows)
    return tallies.add(tally, judged, first_of_payments=first_of_payments)


def _parse_cursor(walk: _Walk, cursor: str | None) -> str | None:
    """Return the source id after which a walk goes on; None if it is done."""
    names = [other.name for other in _WALKS if other.collection == walk.collection]
    if cursor is None:
        return "" if walk.name == names[0] else None
    if cursor == _DONE:
        return None
    name, _, source_id = cursor.partition(":")
    return source_id if name == walk.name else None


def _cursor_after(walk: _Walk) -> str:
    """Return the cursor of a collection when a walk is done: the start of its next walk, or the end."""
    names = [other.name for other in _WALKS if other.collection == walk.collection]
    place = names.index(walk.name) + 1
    return f"{names[place]}:" if place < len(names) else _DONE
