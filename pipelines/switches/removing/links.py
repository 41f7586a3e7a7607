"""Takes links, old tokens and codes back of affiliates who were here before the switch; kept affiliates keep theirs."""

from domain.switches.decisions import CodeDecision, LinkDecision
from models import advisory_locks
from models.switches import old_tokens
from models.switches.undo import obstacles, removals
from pipelines.switches.removing.slices import UndoSlice


def remove_links(slice_: UndoSlice) -> list[str]:
    """Stage a slice and return the source ids of the links that go. Budget: 1 round trip."""
    advisory_locks.stage_all_people_lock(slice_.organization_id)
    rows = slice_.read(LinkDecision)
    remaining = removals.find_kept_affiliates(
        organization_id=slice_.organization_id,
        affiliate_ids=[decision.affiliate_id for _, decision in rows],
        job_id=slice_.imports["Affiliates"],
    )
    gone = [(row, decision) for row, decision in rows if decision.affiliate_id not in remaining]
    links = [decision.link_id for _, decision in gone if decision.slug is not None]
    old_tokens.stage_delete_all(
        **slice_.switch.key, tokens=[decision.old_token for _, decision in gone if decision.old_token is not None]
    )
    old_tokens.stage_delete_of_links(**slice_.switch.key, link_ids=links)
    removals.stage_links(organization_id=slice_.organization_id, link_ids=links, at=slice_.now)
    return [row.source_id for row, _ in gone]


def remove_codes(slice_: UndoSlice) -> list[str]:
    """Stage a slice and return the source ids of the codes that go; redeemed ones stay. Budget: 2 round trips."""
    rows = slice_.read(CodeDecision)
    remaining = removals.find_kept_affiliates(
        organization_id=slice_.organization_id,
        affiliate_ids=[decision.affiliate_id for _, decision in rows],
        job_id=slice_.imports["Affiliates"],
    )
    redeemed = obstacles.find_used_codes(
        organization_id=slice_.organization_id, code_ids=[row.target_id for row in slice_.rows]
    )
    gone = [row for row, decision in rows if decision.affiliate_id not in remaining and row.target_id not in redeemed]
    removals.stage_codes(organization_id=slice_.organization_id, code_ids=[row.target_id for row in gone])
    return [row.source_id for row in gone]
