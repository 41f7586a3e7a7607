"""Embed tokens on the wire. Source: core spec, "Endpoints" (embed token endpoints)."""

from marshmallow import fields

from domain import origins
from schemas.base import NEEDED, Flag, Instant, Wire, bearer_secret, whole
from schemas.bounded import Items
from schemas.paging import PageQuery

_USUAL_HOURS = 24


class EmbedTokenBody(Wire):
    """A token for one affiliate. Which origins and how many hours there may be, `embedding.issue` says."""

    affiliate_id = fields.UUID(required=True)
    allowed_origins = Items(
        fields.String(), most=origins.MAX_ORIGINS, refusal=origins.refuse_too_many, load_default=list, metadata=NEEDED
    )
    rotate = Flag(load_default=False)
    expires_in_hours = whole(load_default=_USUAL_HOURS)


class EmbedTokensQuery(PageQuery):
    """A page of tokens, of one affiliate when asked."""

    affiliate_id = fields.UUID(load_default=None)


class EmbedTokenRecord(Wire):
    """A token without its bearer value, which `POST` alone gives, and `embedUrl`, the address of the page to frame."""

    wire_name = "EmbedToken"

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
    """A token with its bearer value, for the fragment of the address that the brand's page frames."""

    token = bearer_secret(found_at="The backend of the brand requests a token for the page that it frames.")
