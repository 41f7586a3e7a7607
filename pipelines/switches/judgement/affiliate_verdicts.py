"""Affiliates: the rows of one person that lead to one program become one affiliate."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from domain.statuses import AffiliateStatus
from domain.switches.decisions import AffiliateDecision
from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.rules import affiliate_rules
from models import ids
from models.switches.judgement import item_lookups, items, known_records
from models.switches.judgement.items import Item
from models.switches.judgement.known_records import KnownAffiliate
from pipelines.switches.judgement import verdicts
from pipelines.switches.judgement.verdicts import ItemVerdict
from pipelines.switches.understanding.context import Judging
from schemas.base import parse_email

_MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class _Facts:
    """The rows of each person with their status, who has referrals, who is here, and the ids chosen in this slice."""

    people: Mapping[str, Sequence[Item]]
    statuses: Mapping[str, AffiliateStatus]
    referrers: set[str]
    affiliates_here: Mapping[tuple[UUID, str], KnownAffiliate]
    new_ids: dict[str, UUID]


def judge(judging: Judging, slice_items: Sequence[Item]) -> list[ItemVerdict]:
    """Return the verdicts on affiliates. The slug of a new one's default link is chosen later (`default_slugs`).

    The first row of a person gets the decision, the others are merged with it. Budget: 3 round trips for any number of
    rows.
    """
    keys = sorted({item.key for item in slice_items if item.key is not None})
    rows = items.list_of_keys(**judging.switch.key, collection="affiliates", keys=keys)
    people: dict[str, list[Item]] = defaultdict(list)
    for row in rows:
        if row.key is not None and reason_for_row(row) is None:
            people[row.key].append(row)
    affiliates_here = known_records.find_affiliates(
        organization_id=judging.switch.organization_id,
        program_ids=[program.id for program in judging.programs],
        emails=sorted({email_of(key) for key in keys}),
    )
    referrers = set()
    if not judging.options.without_referrals:
        referrers = item_lookups.find_with_referrals(
            **judging.switch.key, affiliate_refs=[row.source_id for row in rows]
        )
    facts = _Facts(
        people=people,
        statuses={key: affiliate_rules.status_of_person(map(status_of, person)) for key, person in people.items()},
        referrers={key for key, person in people.items() if any(row.source_id in referrers for row in person)},
        affiliates_here=affiliates_here,
        new_ids={},
    )
    return [_judge_row(judging, item, facts) for item in slice_items]


def email_of(key: str) -> str:
    """Return the email in the key of a person."""
    return key.split("|", 1)[1]


def reason_for_row(item: Item) -> LeftOutReason | None:
    """Return why a row is left out whatever the other rows say; None if it is not."""
    if item.problem is not None:
        return LeftOutReason(item.problem)
    if item.key is None:
        return LeftOutReason.NoEmail
    if item.program_id is None:
        return LeftOutReason.CampaignNotMapped
    return None if parse_email(email_of(item.key)) else LeftOutReason.InvalidEmail


def _judge_row(
    judging: Judging,
    item: Item,
    facts: _Facts,
) -> ItemVerdict:
    reason = reason_for_row(item)
    if reason is not None:
        return verdicts.leave_out(item, reason)
    assert item.key is not None  # else there is a reason
    assert item.program_id is not None
    person = facts.people[item.key]
    status, has_referrals = facts.statuses[item.key], item.key in facts.referrers
    reason = affiliate_rules.reason_for_person(status=status, has_referrals=has_referrals, options=judging.options)
    if reason is not None:
        return verdicts.leave_out(item, reason)
    existing = facts.affiliates_here.get((item.program_id, email_of(item.key)))
    if existing is not None:
        decision = AffiliateDecision(existing.id, item.program_id, link_id=existing.link_id)
        return _verdict(item, SwitchVerdict.Merged, decision)
    leader = person[0]
    if leader.source_id == item.source_id:
        facts.new_ids[item.key] = affiliate_id = ids.new_id()
        return _verdict(item, SwitchVerdict.New, _decision(judging, item, person, status, affiliate_id))
    # The first row has the lowest source id, so it was judged in this slice or an earlier one.
    affiliate_id = leader.target_id or facts.new_ids[item.key]
    return _verdict(item, SwitchVerdict.Merged, AffiliateDecision(affiliate_id, item.program_id))


def _verdict(item: Item, verdict: SwitchVerdict, decision: AffiliateDecision) -> ItemVerdict:
    return ItemVerdict(item, verdict, decision=decision, target_type="affiliate", target_id=decision.affiliate_id)


def status_of(item: Item) -> AffiliateStatus:
    """Return the status of a row here: Rejected if only other rows name the affiliate."""
    record = item.record or {}
    if record.get("is_mention"):
        return AffiliateStatus.Rejected
    return AffiliateStatus(record.get("status") or AffiliateStatus.Pending)


def _can_be_partner_group(judging: Judging, group: Mapping[str, Any], program_id: UUID) -> bool:
    program = next(program for program in judging.programs if program.id == program_id)
    value = group.get("value")
    return judging.options.groups == "group" and affiliate_rules.can_be_partner_group(
        group["name"],
        type=group.get("type"),
        value=None if value is None else Decimal(str(value)),
        model=program.commission_model,
    )


def _decision(
    judging: Judging, item: Item, person: Sequence[Item], status: AffiliateStatus, affiliate_id: UUID
) -> AffiliateDecision:
    assert item.key is not None  # it has no reason to be left out
    assert item.program_id is not None
    records: list[Mapping[str, Any]] = [row.record or {} for row in person]
    groups = [record["group"] for record in records if record.get("group")]
    rated = [group for group in groups if _can_be_partner_group(judging, group, item.program_id)]
    is_mention_only = all(record.get("is_mention") for record in records)
    rate = rated[0] if rated else {}
    wallet_email = next((record["wallet_email"] for record in records if record.get("wallet_email")), None)
    return AffiliateDecision(
        affiliate_id=affiliate_id,
        program_id=item.program_id,
        email=parse_email(email_of(item.key)) or "",
        full_name=next((record["full_name"] for record in records if record.get("full_name")), "")[:_MAX_NAME_CHARS],
        status=status,
        wallet_email=parse_email(wallet_email) if wallet_email else None,
        tags=affiliate_rules.tags(
            [group["name"] for group in groups], judging.options, group_names=[rate["name"]] if rate else []
        ),
        group_name=rate.get("name"),
        group_type=rate.get("type"),
        group_value=Decimal(str(rate["value"])) if rate.get("value") is not None else None,
        group_currency=rate.get("currency"),
        link_id=None if is_mention_only else ids.new_id(),
    )
