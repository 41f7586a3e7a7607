"""The links of one affiliate: a second one, and the end of one.

Source: core spec, "Affiliate" (tracking link) and section 8 "Limits" (affiliate links).
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from domain import links
from domain.refusals import Refused, not_found
from models import ids
from models.affiliates import affiliates, tracking_links
from models.affiliates.tracking_links import ShownLink
from models.programs import programs
from pipelines.affiliates import joining


def add(*, affiliate: affiliates.Affiliate, alias: str | None, format: str, now: datetime) -> ShownLink:
    """Give a locked affiliate one more link; without an alias its slug is random.

    Raises Refused 409: link_limit_reached, alias_already_taken.
    """
    organization_id = affiliate.organization_id
    program = programs.find(organization_id=organization_id, program_id=affiliate.program_id)
    assert program is not None  # it has this affiliate
    _check_room(affiliate, links.max_links(program.default_commission_model))
    if alias is not None:
        joining.check_alias(organization_id=organization_id, alias=alias, email=affiliate.email)
    values: dict[str, Any] = {
        "id": ids.new_id(),
        "organization_id": organization_id,
        "program_id": affiliate.program_id,
        "affiliate_id": affiliate.id,
        "slug": alias or joining.free_slug(organization_id=organization_id, email=affiliate.email),
        "custom_alias": alias,
        "is_default": False,
        "format": format,
        "created_at": now,
    }
    if not tracking_links.insert(values):
        raise joining.alias_taken()
    made = tracking_links.find(organization_id=organization_id, affiliate_id=affiliate.id, link_id=values["id"])
    assert made is not None  # inserted in this transaction
    return made


def remove(*, organization_id: UUID, affiliate_id: UUID, link_id: UUID, now: datetime) -> ShownLink:
    """End a link and return it as it was.

    Raises Refused: 404 not_found; 409 default_link_required for the link that an affiliate always has.
    """
    link = tracking_links.find(organization_id=organization_id, affiliate_id=affiliate_id, link_id=link_id)
    if link is None:
        raise not_found("link", link_id)
    if link.is_default:
        raise Refused(409, "default_link_required", "The default link is the affiliate's account slug; it stays.")
    if not tracking_links.retire(organization_id=organization_id, link_id=link_id, at=now):
        raise not_found("link", link_id)
    return link


def _check_room(affiliate: affiliates.Affiliate, most: int) -> None:
    held = tracking_links.count(organization_id=affiliate.organization_id, affiliate_id=affiliate.id)
    if held >= most:
        message = f"An affiliate of this program has at most {most} link{'' if most == 1 else 's'}."
        raise Refused(409, "link_limit_reached", message)
