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
from models.tracking_links import ShownLink
from schemas import affiliate as wire


def shown(affiliate: Affiliate, links: Iterable[ShownLink]) -> dict[str, Any]:
    """Return an affiliate as this request's caller sees them."""
    return wire.record(affiliate, links, base_url=_base_url(), is_for_dashboard=_is_dashboard())


def shown_all(rows: Sequence[Affiliate]) -> list[dict[str, Any]]:
    """Return several as this request's caller sees them; one statement for the links of all."""
    links = tracking_links.links(organization_id=guards.organization_id(), affiliate_ids=[row.id for row in rows])
    base_url, is_for_dashboard = _base_url(), _is_dashboard()
    return [
        wire.record(row, links.get(str(row.id), []), base_url=base_url, is_for_dashboard=is_for_dashboard)
        for row in rows
    ]


def audited(affiliate: Affiliate, links: Iterable[ShownLink]) -> dict[str, Any]:
    """Return an affiliate for the audit log, which keys read too."""
    return wire.record(affiliate, links, base_url=_base_url())


def link(one: ShownLink) -> dict[str, Any]:
    """Return a link as everybody sees it."""
    return wire.link_record(one, base_url=_base_url())


def links_of(affiliate_id: UUID) -> list[ShownLink]:
    """Return the links of an affiliate of this request's organization."""
    return tracking_links.links_of(organization_id=guards.organization_id(), affiliate_id=affiliate_id)


def _base_url() -> str:
    return settings.current().public_base_url


def _is_dashboard() -> bool:
    return not guards.caller().is_key
