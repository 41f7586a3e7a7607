"""What a caller sees of an affiliate: a person at the dashboard the application too, a key never.

Source: core spec, "Affiliate" (what the response omits).
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import settings
from api.edge import guards
from models import tracking_links
from models.affiliates import Affiliate
from models.tracking_links import TrackingLink
from schemas import affiliate as wire


def shown(affiliate: Affiliate, links: Iterable[TrackingLink]) -> dict[str, Any]:
    """Return an affiliate as this request's caller sees them."""
    return wire.record(affiliate, links, base_url=_base_url(), is_for_dashboard=not guards.caller().is_key)


def shown_all(rows: Sequence[Affiliate]) -> list[dict[str, Any]]:
    """Return several as this request's caller sees them; one statement for the links of all."""
    links = links_of([row.id for row in rows])
    return [shown(row, links.get(row.id, [])) for row in rows]


def audited(affiliate: Affiliate, links: Iterable[TrackingLink]) -> dict[str, Any]:
    """Return an affiliate for the audit log, which keys read too."""
    return wire.record(affiliate, links, base_url=_base_url())


def link(one: TrackingLink) -> dict[str, Any]:
    """Return a link as everybody sees it."""
    return wire.link_record(one, base_url=_base_url())


def links_of(affiliate_ids: Iterable[UUID]) -> dict[UUID, list[TrackingLink]]:
    """Return the links of several affiliates of this request's organization."""
    return tracking_links.links(organization_id=guards.organization_id(), affiliate_ids=affiliate_ids)


def _base_url() -> str:
    return settings.current().public_base_url
