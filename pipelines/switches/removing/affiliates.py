"""Takes affiliates of a switch back, with their links, old tokens and codes."""

from domain.switches.decisions import AffiliateDecision
from models import advisory_locks
from models.switches.undo import obstacles, removals
from pipelines.switches.removing.slices import UndoSlice


def remove(slice_: UndoSlice) -> list[str]:
    """Stage a slice and return the source ids of the affiliates who go. Budget: 1 round trip.

    Kept is who has a customer or conversion left, an account, a click, a link or code of their own, a recruit, a
    redeemed code or a payout.
    """
    advisory_locks.stage_all_people_lock(slice_.organization_id)
    rows = slice_.read(AffiliateDecision)
    ids = [decision.affiliate_id for _, decision in rows]
    removals.stage_affiliate_locks(organization_id=slice_.organization_id, affiliate_ids=ids)
    used = obstacles.find_used_affiliates(**slice_.switch.key, affiliate_ids=ids)
    gone = [(row, decision.affiliate_id) for row, decision in rows if decision.affiliate_id not in used]
    removals.stage_affiliates(
        organization_id=slice_.organization_id,
        affiliate_ids=[affiliate_id for _, affiliate_id in gone],
        at=slice_.now,
    )
    return [row.source_id for row, _ in gone]
