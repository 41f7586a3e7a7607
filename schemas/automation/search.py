"""Searches of no-code platforms, by exact values only."""

from typing import Any

from marshmallow import fields, post_load

from domain.refusals import Refused
from schemas.base import Email, Wire, text

_MAX_SLUG_CHARS = 64
_MAX_NAME_CHARS = 200
_MAX_EVENT_ID_CHARS = 1024


class _Search(Wire):
    """Refuses a search without terms as `search_term_required`; terms that were not sent load to None."""

    @post_load
    def _check(self, terms: dict[str, Any], **_: object) -> dict[str, Any]:
        if all(value is None for value in terms.values()):
            names = " or ".join(str(field.data_key) for field in self.fields.values())
            raise Refused(400, "search_term_required", f"A search term is required: {names}.")
        return terms


class AffiliateSearch(_Search):
    """By email, in any case, or by the slug of a link."""

    email = Email(load_default=None)
    slug = text(shortest=1, longest=_MAX_SLUG_CHARS, load_default=None)


class CampaignSearch(_Search):
    """By slug or by name."""

    slug = text(shortest=1, longest=_MAX_SLUG_CHARS, load_default=None)
    name = text(shortest=1, longest=_MAX_NAME_CHARS, load_default=None)


class ConversionSearch(_Search):
    """By the id of the sale at the brand, or by our own."""

    external_event_id = text(shortest=1, longest=_MAX_EVENT_ID_CHARS, load_default=None)
    id = fields.UUID(load_default=None)


class PayoutSearch(_Search):
    """By id, or an affiliate's."""

    id = fields.UUID(load_default=None)
    affiliate_id = fields.UUID(load_default=None)
