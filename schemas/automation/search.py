"""What no-code platforms search by: each value as it is, no parts of it."""

from typing import Any

from marshmallow import fields, post_load

from domain.refused import Refused
from schemas.base import Email, Wire, text

_LONGEST_SLUG = 64
_LONGEST_NAME = 200
_LONGEST_EVENT_ID = 1024


class _Search(Wire):
    """Refuses a search for nothing as `search_term_required`; loads to what was sent, the rest None."""

    @post_load
    def _check(self, wanted: dict[str, Any], **_: object) -> dict[str, Any]:
        if all(value is None for value in wanted.values()):
            names = " or ".join(str(field.data_key) for field in self.fields.values())
            raise Refused(400, "search_term_required", f"Say what is searched for: {names}.")
        return wanted


class AffiliateSearch(_Search):
    """By email, in any case, or by the slug of a link."""

    email = Email(load_default=None)
    slug = text(shortest=1, longest=_LONGEST_SLUG, load_default=None)


class CampaignSearch(_Search):
    """By slug or by name."""

    slug = text(shortest=1, longest=_LONGEST_SLUG, load_default=None)
    name = text(shortest=1, longest=_LONGEST_NAME, load_default=None)


class ConversionSearch(_Search):
    """By the id of the sale at the brand, or by our own."""

    external_event_id = text(shortest=1, longest=_LONGEST_EVENT_ID, load_default=None)
    id = fields.UUID(load_default=None)


class PayoutSearch(_Search):
    """By id, or an affiliate's."""

    id = fields.UUID(load_default=None)
    affiliate_id = fields.UUID(load_default=None)
