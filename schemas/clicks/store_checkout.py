"""What a store's web pixel tells of a checkout, on the wire."""

from marshmallow import fields

from schemas.base import Wire, text
from schemas.clicks.click import LONGEST_PIXEL_KEY

_LONGEST_TOKEN = 128
_LONGEST_SLUG = 200
_LONGEST_TAG = 1024


class StoreCheckoutBody(Wire):
    """A checkout, by the token that the store knows it by, and the slug by which its browser had come."""

    pixel_key = text(required=True, shortest=1, longest=LONGEST_PIXEL_KEY)
    checkout_token = text(required=True, shortest=1, longest=_LONGEST_TOKEN)
    slug = text(required=True, shortest=1, longest=_LONGEST_SLUG)
    sub_id = text(load_default=None, allow_none=True, longest=_LONGEST_TAG)


class StoreCheckoutAnswer(Wire):
    """`ok`: it was read. Nothing is said of what is known."""

    ok = fields.Boolean(required=True)
