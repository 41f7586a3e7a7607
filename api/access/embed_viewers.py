"""Viewers of the embedded page on a brand's site: one affiliate of one brand, authenticated by an embed token.

An embed token is accepted only by the embed routes, and these accept nothing else.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters import clock
from adapters.secret_key import embed_bearer
from api.access import callers, unknown_senders
from domain.statuses import AffiliateStatus
from models import db
from models.affiliates import embed_tokens
from models.affiliates.embed_tokens import TokenHolder

_CACHE = "embed"
# The last use of a token is stored to the hour, so that hardly any look-up writes.
_USED_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class FrameViewer:
    """The affiliate who views the embedded page, and their brand's plan."""

    token_id: UUID
    organization_id: UUID
    affiliate_id: UUID
    plan_tier: str
    subscription_status: str
    trial_ends_at: datetime | None

    @property
    def label(self) -> str:
        """The viewer's name in the audit log."""
        return f"Embed token {self.token_id}"


def find_viewer(token: str | None) -> FrameViewer | None:
    """Return the viewer of an embed token; None if it is forged or expired, or its affiliate is not Approved.

    A forged token costs no query. Viewers are cached like keys: the end of a token and a ban take effect within
    KEY_CACHE_S. Budget: 1 statement, none within KEY_CACHE_S after the last, once an hour another with the commit.
    """
    return callers.find_cached(token, _CACHE, _find)


def _find(token: str) -> tuple[FrameViewer | None, float]:
    claims = embed_bearer.decode(token)
    if claims is None or (unknown_senders.is_blocked() and not callers.is_cached(token, _CACHE)):
        return None, 0
    token_id, generation = claims
    now = clock.now()
    with db.any_org_work():
        holder = embed_tokens.any_org_find_holder(token_id)
        if holder is not None and _is_in_force(holder, generation, now):
            _note_use(holder, now)
            return _viewer(holder), (holder.expires_at - now).total_seconds()
    unknown_senders.count_unknown()
    return None, 0


def _is_in_force(holder: TokenHolder, generation: int, now: datetime) -> bool:
    return holder.generation == generation and now < holder.expires_at and holder.status == AffiliateStatus.Approved


def _note_use(holder: TokenHolder, now: datetime) -> None:
    if holder.last_used_at is None or now - holder.last_used_at > _USED_EVERY:
        embed_tokens.stage_last_used(organization_id=holder.organization_id, token_id=holder.id, at=now)


def _viewer(holder: TokenHolder) -> FrameViewer:
    return FrameViewer(
        token_id=holder.id,
        organization_id=holder.organization_id,
        affiliate_id=holder.affiliate_id,
        plan_tier=holder.plan_tier,
        subscription_status=holder.subscription_status,
        trial_ends_at=holder.trial_ends_at,
    )
