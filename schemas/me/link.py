"""The links of the signed-in affiliate in the API."""

from collections.abc import Iterable
from typing import Any

from marshmallow import fields, post_load

from domain import links, statuses
from schemas.affiliates.affiliate import AffiliateLinkRecord
from schemas.affiliates.link import AffiliateLinkBody
from schemas.base import one_of


class OwnLinkRecord(AffiliateLinkRecord):
    """A link with its program; `clicks30d` are its visits of the last 30 days."""

    program_id = fields.UUID(attribute="of_program_id")
    program_name = fields.String()
    organization_name = fields.String()
    affiliate_status = one_of(statuses.AffiliateStatus)
    clicks_30d = fields.Integer(attribute="clicks")


class OwnLinkBody(AffiliateLinkBody):
    """A new link in one program. Loads to `program_id`, `alias` (None: a random slug) and `format`."""

    program_id = fields.UUID(required=True)

    @post_load
    def _fill(self, body: dict[str, Any], **options: object) -> dict[str, Any]:
        return {"program_id": body["program_id"], **super()._fill(body, **options)}


_LINK = OwnLinkRecord(exclude=("url",))


def own_link_records(rows: Iterable[Any], *, base_url: str) -> list[dict[str, Any]]:
    """Return links as the API shows them. `base_url` is the public URL of this service."""
    return [
        _LINK.dump(link)
        | {
            "url": links.url(
                slug=link.slug,
                format=link.format,
                destination_url=link.destination_url,
                base_url=base_url,
                program_id=link.program_id,
            )
        }
        for link in rows
    ]
