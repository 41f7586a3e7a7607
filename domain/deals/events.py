"""The JSON form of the events of deals. Amounts are minor units of the deal's currency, `seq` counts from 1.

Source: tracking spec, section 6 "Events", deal.funded, milestone.submitted, milestone.released and dispute.opened.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from domain.webhooks import events


def serialize_funded(
    *,
    deal_id: UUID,
    milestone_id: UUID,
    seq: int,
    title: str,
    amount_cents: int,
    take_cents: int,
    charge_id: str,
    deal_status: str,
) -> dict[str, object]:
    """Return the data of a deal.funded event: once per milestone, when the deal's charge has succeeded."""
    return {
        **_identify(deal_id, milestone_id, seq),
        "title": title,
        "amountCents": amount_cents,
        "takeCents": take_cents,
        "totalBrandCharge": amount_cents + take_cents,
        "fundingChargeId": charge_id,
        "dealStatus": str(deal_status),
    }


def serialize_submitted(
    *, deal_id: UUID, milestone_id: UUID, seq: int, urls: Sequence[str], auto_release_at: datetime
) -> dict[str, object]:
    """Return the data of a milestone.submitted event."""
    return {
        **_identify(deal_id, milestone_id, seq),
        "submissionUrls": list(urls),
        "autoReleaseAt": events.timestamp(auto_release_at),
    }


def serialize_released(
    *, deal_id: UUID, milestone_id: UUID, seq: int, cents: int, payout_id: UUID, deal_status: str
) -> dict[str, object]:
    """Return the data of a milestone.released event; nothing is deducted from the promised amount."""
    return {
        **_identify(deal_id, milestone_id, seq),
        "grossCents": cents,
        "netCents": cents,
        "payoutId": str(payout_id),
        "dealStatus": str(deal_status),
    }


def serialize_dispute_opened(
    *, deal_id: UUID, milestone_id: UUID, seq: int, opened_by: str, reason: str, proposed_resolution: str
) -> dict[str, object]:
    """Return the data of a dispute.opened event; `opened_by` is a `states.Side`."""
    return {
        **_identify(deal_id, milestone_id, seq),
        "openedBy": str(opened_by),
        "reason": reason,
        "proposedResolution": proposed_resolution,
    }


def _identify(deal_id: UUID, milestone_id: UUID, seq: int) -> dict[str, object]:
    return {"dealId": str(deal_id), "milestoneId": str(milestone_id), "seq": seq}
