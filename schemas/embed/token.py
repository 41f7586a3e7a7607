"""Embed tokens in the API. Source: core spec, "Endpoints" (embed token endpoints)."""

from marshmallow import fields

from domain import origins
from schemas.base import NEEDED, Flag, Instant, Wire, bearer_secret, integer
from schemas.collection_fields import Items
from schemas.paging import PageQuery

_DEFAULT_HOURS = 24


class EmbedTokenBody(Wire):
    """A token for one affiliate. `embed_access.issue` limits its origins and hours."""

    affiliate_id = fields.UUID(required=True)
    allowed_origins = Items(
        fields.String(), most=origins.MAX_ORIGINS, refusal=origins.refuse_too_many, load_default=list, metadata=NEEDED
    )
    rotate = Flag(load_default=False)
    expires_in_hours = integer(load_default=_DEFAULT_HOURS)


class EmbedTokensQuery(PageQuery):
    """A page of tokens, optionally of one affiliate."""

    affiliate_id = fields.UUID(load_default=None)


class EmbedTokenRecord(Wire):
    """A token without its bearer value, which only `POST` returns; `embedUrl` is the page to frame."""

    id = fields.UUID()
    affiliate_id = fields.UUID()
    affiliate_name = fields.String()
    affiliate_email = fields.String()
    embed_url = fields.String()
    allowed_origins = fields.List(fields.String())
    expires_at = Instant()
    created_at = Instant()
    last_used_at = Instant(allow_none=True)


class IssuedEmbedToken(EmbedTokenRecord):
    """A token with its bearer value, for the fragment of the URL that the brand's page frames."""

    token = bearer_secret(found_at="The backend of the brand requests a token for the page that it frames.")
