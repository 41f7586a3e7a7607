"""The links of one affiliate: adding one, ending one.

Source: core spec, "Affiliate" (tracking link) and section 8 "Limits" (affiliate links).
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from domain import links
from domain.refusals import Refused, not_found
from models import ids
from models.affiliates import affiliates, tracking_links
from models.affiliates.tracking_links import LinkView
from models.programs import programs
from pipelines.affiliates import enrollment


def add(*, affiliate: affiliates.Affiliate, alias: str | None, format: str, now: datetime) -> LinkView:
    """Add a link for a locked affiliate; without an alias its slug is random.

    Raises Refused 409: link_limit_reached, alias_already_taken.
    """
    organization_id = affiliate.organization_id
    program = programs.find(organization_id=organization_id, program_id=affiliate.program_id)
    assert program is not None  # it has this affiliate
    _check_room(affiliate, links.max_links(program.default_commission_model))
    if alias is not None:
        enrollment.reserve_alias(organization_id=organization_id, alias=alias, email=affiliate.email)
    values: dict[str, Any] = {
        "id": ids.new_id(),
        "organization_id": organization_id,
        "program_id": affiliate.program_id,
        "affiliate_id": affiliate.id,
        "slug": alias or enrollment.reserve_random_slug(organization_id=organization_id, email=affiliate.email),
        "custom_alias": alias,
        "is_default": False,
        "format": format,
        "created_at": now,
    }
    if not tracking_links.insert(values):
        raise enrollment.alias_refusal()
    link = tracking_links.find(organization_id=organization_id, affiliate_id=affiliate.id, link_id=values["id"])
    assert link is not None  # inserted in this transaction
    return link


def remove(*, organization_id: UUID, affiliate_id: UUID, link_id: UUID, now: datetime) -> LinkView:
    """End a link and return it as it was.

    Raises Refused: 404 not_found; 409 default_link_required for the default link.
    """
    link = tracking_links.find(organization_id=organization_id, affiliate_id=affiliate_id, link_id=link_id)
    if link is None:
        raise not_found("link", link_id)
    if link.is_default:
        raise Refused(409, "default_link_required", "The default link cannot be deleted.")
    if not tracking_links.retire(organization_id=organization_id, link_id=link_id, at=now):
        raise not_found("link", link_id)
    return link


def _check_room(affiliate: affiliates.Affiliate, max_links: int) -> None:
    count = tracking_links.count(organization_id=affiliate.organization_id, affiliate_id=affiliate.id)
    if count >= max_links:
        message = f"An affiliate of this program has at most {max_links} link{'' if max_links == 1 else 's'}."
        raise Refused(409, "link_limit_reached", message)
