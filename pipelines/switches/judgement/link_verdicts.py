"""Tokens of links: each becomes a slug of its affiliate here, or an old token beside the default link."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.switches.decisions import LinkDecision
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.rules import link_rules
from models import ids
from models.switches.judgement import item_lookups, items, known_records
from models.switches.judgement.items import Item
from models.switches.judgement.known_records import KnownLink
from pipelines.switches.judgement import affiliate_verdicts, verdicts
from pipelines.switches.judgement.commission_verdicts import reason_for_owner
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding.context import Judging

#: `kind` of a link's item: what its token becomes.
SLUG, OLD_TOKEN = "slug", "old_token"


@dataclass(frozen=True, slots=True)
class _Facts:
    """Other links: those of this switch with the same token that come over, and those of the brand."""

    same_token: Mapping[str, Sequence[Item]]
    existing: Mapping[str, Sequence[KnownLink]]
    link_ids: Mapping[str, UUID | None]


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on links, after all affiliates were judged.

    The default link of a new affiliate is settled later (`default_slugs`). Budget: 3 round trips for any number of
    rows.
    """
    tokens = sorted({item.key for item in slice_items if item.key is not None})
    same_token: dict[str, list[Item]] = defaultdict(list)
    for row in items.list_of_keys(**judging.switch.key, collection="links", keys=tokens):
        if row.key is not None and reason_for_row(judging, row) is None:
            same_token[row.key].append(row)
    owners = {item.owner_key for rows in same_token.values() for item in rows if item.owner_key}
    facts = _Facts(
        same_token=same_token,
        existing=known_records.find_links(organization_id=judging.switch.organization_id, texts=tokens),
        link_ids=_find_default_links(judging, sorted(owners)),
    )
    new_ids: dict[str, UUID] = {}
    return [_judge_one(judging, item, facts, new_ids) for item in slice_items]


def _find_default_links(judging: Judging, keys: Sequence[str]) -> dict[str, UUID | None]:
    """Return the default link of each person by key; the first row of a person has it."""
    link_ids = item_lookups.find_default_links(**judging.switch.key, keys=keys)
    return {key: link_ids.get(key) for key in keys}


def reason_for_row(judging: Judging, item: Item) -> LeftOutReason | None:
    """Return why a row is left out by itself, its campaign or its affiliate; None if it is not."""
    if item.problem is not None:
        return LeftOutReason(item.problem)
    return LeftOutReason.UnreadableRow if item.key is None else reason_for_owner(judging, item)


def _judge_one(judging: Judging, item: Item, facts: _Facts, new_ids: dict[str, UUID]) -> ItemVerdict:
    reason = reason_for_row(judging, item)
    if reason is not None:
        return verdicts.leave_out(item, reason)
    assert item.key is not None  # else there is a reason
    assert item.owner_key is not None
    token, email = item.key, affiliate_verdicts.email_of(item.owner_key)
    same = facts.same_token[token]
    existing = facts.existing.get(token, ())
    holder = affiliate_verdicts.email_of(same[0].owner_key or "|")
    if any(link.email != email for link in existing) or holder != email:
        return verdicts.leave_out(item, LeftOutReason.SlugTaken)
    default_link_id = facts.link_ids.get(item.owner_key)
    if default_link_id is None:  # a mention has no link
        return verdicts.leave_out(item, LeftOutReason.AffiliateUnknown)
    here = next((link for link in existing if link.program_id == item.owner_program_id or link.is_old), None)
    if here is not None:
        return _verdict(item, SwitchVerdict.Known, here.link_id, kind=OLD_TOKEN if here.is_old else SLUG)
    is_slug = link_rules.can_be_slug(token)
    # An old token leads to one link of the organization, a slug to one of each program.
    first = next(row for row in same if not is_slug or row.owner_program_id == item.owner_program_id)
    if first.source_id != item.source_id:
        target = first.target_id or new_ids[first.source_id]
        return _verdict(item, SwitchVerdict.Merged, target, kind=SLUG if is_slug else OLD_TOKEN)
    link_id = ids.new_id() if is_slug else default_link_id
    new_ids[item.source_id] = link_id
    return _verdict(
        item,
        SwitchVerdict.New,
        link_id,
        kind=SLUG if is_slug else OLD_TOKEN,
        decision=_decision(item, link_id, slug=token if is_slug else None, old_token=None if is_slug else token),
    )


def _decision(item: Item, link_id: UUID, *, slug: str | None, old_token: str | None) -> LinkDecision:
    assert item.owner_id is not None  # it has an owner
    assert item.owner_program_id is not None
    return LinkDecision(item.owner_id, item.owner_program_id, link_id, slug=slug, old_token=old_token)


def _verdict(
    item: Item, verdict: SwitchVerdict, link_id: UUID, *, kind: str, decision: LinkDecision | None = None
) -> ItemVerdict:
    return ItemVerdict(item, verdict, decision=decision, target_type="link", target_id=link_id, kind=kind)
