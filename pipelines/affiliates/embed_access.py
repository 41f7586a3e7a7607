"""The token with which a brand's own site shows an affiliate's data.

One per affiliate: a repeated request returns the same token, so that a second tab does not sign out the first.
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
from pipelines.affiliates import management

#: The maximum lifetime of a token in hours.
MAX_HOURS = 720


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A valid token, its affiliate, and the token before this request (None for the first one)."""

    token: EmbedToken
    affiliate: Affiliate
    before: EmbedToken | None

    @property
    def is_new(self) -> bool:
        """Whether its bearer value differs from before."""
        return self.before is None or self.before.generation != self.token.generation


def issue(
    *, organization_id: UUID, affiliate_id: UUID, allowed: list[str], hours: int, rotate: bool, now: datetime
) -> IssuedToken:
    """Issue a token for `hours`, or return the live one with these origins; `rotate` ends the live one at once.

    Raises Refused: 400 invalid_origin, too_many_origins, expires_out_of_range; 404 not_found; 409 affiliate_not_active.
    """
    allowed_origins = origins.validate(allowed)
    if not 1 <= hours <= MAX_HOURS:
        message = f"A token lives from 1 to {MAX_HOURS} hours."
        raise Refused(400, "expires_out_of_range", message, field="expiresInHours")
    affiliate = management.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if affiliate.status != AffiliateStatus.Approved:
        raise Refused(409, "affiliate_not_active", f"The affiliate is {affiliate.status}, not Approved.")
    current = embed_tokens.lock(organization_id=organization_id, affiliate_id=affiliate_id)
    if current is not None and current.is_live(now) and not rotate:
        return IssuedToken(embed_tokens.change(current, {"allowed_origins": allowed_origins}), affiliate, current)
    values: dict[str, Any] = {
        "generation": current.generation + 1 if current else 1,
        "allowed_origins": allowed_origins,
        "created_at": now,
        "expires_at": now + timedelta(hours=hours),
        "revoked_at": None,
        "last_used_at": None,
    }
    return IssuedToken(_store(affiliate, current, values), affiliate, current)


def _store(affiliate: Affiliate, current: EmbedToken | None, values: dict[str, Any]) -> EmbedToken:
    if current is not None:
        return embed_tokens.change(current, values)
    identity = {"id": ids.new_id(), "organization_id": affiliate.organization_id, "affiliate_id": affiliate.id}
    token = embed_tokens.insert(identity | values)
    assert token is not None  # the affiliate is locked, and had none
    return token
