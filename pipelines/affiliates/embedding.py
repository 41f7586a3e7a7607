"""The token with which a brand's own site shows one affiliate what they have.

One for each affiliate: asking again gives the same one, so that a person's second tab does not throw out the first.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from domain import origins
from domain.refusals import Refused
from domain.statuses import AffiliateStatus
from models import ids
from models.affiliates import embed_tokens
from models.affiliates.affiliates import Affiliate
from models.affiliates.embed_tokens import EmbedToken
from pipelines.affiliates import deciding

#: How many hours a token may live at most.
MOST_HOURS = 720


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token in force, whom it is for, and as it was before; None when the affiliate had none."""

    token: EmbedToken
    affiliate: Affiliate
    before: EmbedToken | None

    @property
    def is_new(self) -> bool:
        """Say whether its bearer value is another one than before."""
        return self.before is None or self.before.generation != self.token.generation


def issue(
    *, organization_id: UUID, affiliate_id: UUID, allowed: list[str], hours: int, rotate: bool, now: datetime
) -> IssuedToken:
    """Give an affiliate a token for `hours`, or the one that is live with these origins; `rotate` ends that at once.

    Raises Refused: 400 invalid_origin, too_many_origins, expires_out_of_range; 404 not_found; 409 affiliate_not_active.
    """
    framers = origins.validate(allowed)
    if not 1 <= hours <= MOST_HOURS:
        message = f"A token lives from 1 to {MOST_HOURS} hours."
        raise Refused(400, "expires_out_of_range", message, field="expiresInHours")
    affiliate = deciding.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if affiliate.status != AffiliateStatus.Approved:
        raise Refused(409, "affiliate_not_active", f"The affiliate is {affiliate.status}, not Approved.")
    held = embed_tokens.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if held is not None and held.is_live(now) and not rotate:
        return IssuedToken(embed_tokens.change(held, {"allowed_origins": framers}), affiliate, held)
    anew: dict[str, Any] = {
        "generation": held.generation + 1 if held else 1,
        "allowed_origins": framers,
        "created_at": now,
        "expires_at": now + timedelta(hours=hours),
        "revoked_at": None,
        "last_used_at": None,
    }
    return IssuedToken(_put(affiliate, held, anew), affiliate, held)


def _put(affiliate: Affiliate, held: EmbedToken | None, anew: dict[str, Any]) -> EmbedToken:
    if held is not None:
        return embed_tokens.change(held, anew)
    named = {"id": ids.new_id(), "organization_id": affiliate.organization_id, "affiliate_id": affiliate.id}
    made = embed_tokens.insert(named | anew)
    assert made is not None  # the affiliate is locked, and had none
    return made
