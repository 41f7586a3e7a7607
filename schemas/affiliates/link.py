"""A new tracking link in the API.

Source: core spec, "Affiliate" (tracking link).
"""

from typing import Any

from marshmallow import post_load

from domain.statuses import LinkFormat
from schemas.affiliates.affiliate import alias
from schemas.base import Wire, one_of


class AffiliateLinkBody(Wire):
    """A new link. Loads to `alias` (None: a random slug) and `format`."""

    alias = alias()
    format = one_of(LinkFormat, load_default=None, allow_none=True)

    @post_load
    def _fill(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"alias": body["alias"] or None, "format": body["format"] or LinkFormat.Short.value}
