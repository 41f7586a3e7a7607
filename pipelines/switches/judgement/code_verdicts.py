"""Coupon codes become external codes of their affiliates."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from domain.switches.decisions import CodeDecision
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from models import ids
from models.switches.judgement import items, known_records
from models.switches.judgement.items import Item
from models.switches.judgement.known_records import KnownCode
from pipelines.switches.judgement import verdicts
from pipelines.switches.judgement.commission_verdicts import reason_for_owner
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding.context import Judging

_CODE = re.compile(r"[A-Z0-9_-]{3,32}")


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on codes. Of several affiliates with one code the first by source id has it.

    Budget: 2 round trips for any number of rows.
    """
    codes = sorted({item.key for item in slice_items if item.key is not None})
    same: dict[str, list[Item]] = defaultdict(list)
    for row in items.list_of_keys(**judging.switch.key, collection="codes", keys=codes):
        if row.key is not None and reason_for_row(judging, row) is None:
            same[row.key].append(row)
    codes_here = known_records.find_codes(organization_id=judging.switch.organization_id, codes=codes)
    new_ids: dict[str, UUID] = {}
    return [_judge_one(judging, item, same, codes_here, new_ids) for item in slice_items]


def reason_for_row(judging: Judging, item: Item) -> LeftOutReason | None:
    """Return why a row is left out by itself, its campaign or its affiliate; None if it is not."""
    if item.problem is not None:
        return LeftOutReason(item.problem)
    if item.key is None or not _CODE.fullmatch(item.key):
        return LeftOutReason.UnreadableRow
    if (item.record or {}).get("is_archived") or not judging.options.codes:
        return LeftOutReason.CodeArchived
    return reason_for_owner(judging, item)


def _judge_one(
    judging: Judging,
    item: Item,
    same: Mapping[str, Sequence[Item]],
    codes_here: Mapping[str, KnownCode],
    new_ids: dict[str, UUID],
) -> ItemVerdict:
    reason = reason_for_row(judging, item)
    if reason is not None:
        return verdicts.leave_out(item, reason)
    assert item.key is not None
    assert item.owner_id is not None
    assert item.owner_program_id is not None
    existing = codes_here.get(item.key)
    if existing is not None and existing.affiliate_id == item.owner_id:
        return ItemVerdict(item, SwitchVerdict.Known, target_type="code", target_id=existing.id)
    first = same[item.key][0]
    if existing is not None or first.owner_id != item.owner_id:
        return verdicts.leave_out(item, LeftOutReason.CodeTaken)
    if first.source_id != item.source_id:
        target = first.target_id or new_ids[first.source_id]
        return ItemVerdict(item, SwitchVerdict.Merged, target_type="code", target_id=target)
    new_ids[item.source_id] = code_id = ids.new_id()
    decision = CodeDecision(item.owner_id, item.owner_program_id, item.key)
    return ItemVerdict(item, SwitchVerdict.New, decision=decision, target_type="code", target_id=code_id)
