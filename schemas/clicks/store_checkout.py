"""Checkouts that a store's web pixel reports, in the API."""

from marshmallow import fields

from schemas.base import Wire, text
from schemas.clicks.click import MAX_PIXEL_KEY_CHARS

_MAX_TOKEN_CHARS = 128
_MAX_SLUG_CHARS = 200
_MAX_TAG_CHARS = 1024


class StoreCheckoutBody(Wire):
    """A checkout by the store's token, and the slug through which its browser had come."""

    pixel_key = text(required=True, shortest=1, longest=MAX_PIXEL_KEY_CHARS)
    checkout_token = text(required=True, shortest=1, longest=_MAX_TOKEN_CHARS)
    slug = text(required=True, shortest=1, longest=_MAX_SLUG_CHARS)
    sub_id = text(load_default=None, allow_none=True, longest=_MAX_TAG_CHARS)


class StoreCheckoutAnswer(Wire):
    """`ok`: the body was valid. Nothing else is disclosed."""

    ok = fields.Boolean(required=True)
