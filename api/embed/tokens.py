"""Embed tokens, which a brand creates and revokes; one per affiliate.

Source: core spec, "Endpoints" (embed token endpoints), section 5 "Plan gates".
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

import settings
from adapters import clock
from adapters.secret_key import embed_bearer
from api.access import callers, guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from domain.organization import plans
from domain.refusals import not_found
from models import db
from models.affiliates import embed_tokens
from pipelines.affiliates import embed_access
from pipelines.affiliates.embed_access import IssuedToken
from schemas.embed.token import EmbedTokenBody, EmbedTokenRecord, EmbedTokensQuery, IssuedEmbedToken

blueprint = Blueprint("embed_tokens", __name__)

# A token can be created by every caller who can list them, so listing needs the same access.
_GUARD = Guard(audience="brand", scope="read_write", plan=plans.Tier.Growth, closed_cors=True)
_RECORD = EmbedTokenRecord(exclude=("embed_url",))
_OWN = EmbedTokenRecord(exclude=("embed_url", "affiliate_name", "affiliate_email"))
# Of the affiliate, the audit log stores only the id.
_AUDITED = EmbedTokenRecord(only=("id", "affiliate_id", "allowed_origins", "expires_at"))


@blueprint.post("/api/v1/embed/tokens")
@operation(
    _GUARD,
    object_of(IssuedEmbedToken()),
    status=201,
    gives_at=(200,),
    takes=EmbedTokenBody(),
    refuses=(
        "400 invalid_origin",
        "400 too_many_origins",
        "400 expires_out_of_range",
        "404 not_found",
        "409 affiliate_not_active",
    ),
    shows_secret=True,
)
def create_embed_token() -> Response:
    """Create the embed token of an affiliate, with which your site shows them their data.

    201 with a new token; 200 with the same token if one is live: its origins are replaced, its expiry stays. `rotate`
    revokes the live token at once and creates another.
    """
    requested = body.load()
    answer = idempotency.run_once(lambda: _create(requested))
    if requested["rotate"]:  # nothing else ends a token, and servers request theirs all the time
        callers.clear_cache()
    return answer


def _create(requested: Mapping[str, Any]) -> idempotency.Answer:
    now = clock.now()
    issued = embed_access.issue(
        organization_id=guards.organization_id(),
        affiliate_id=requested["affiliate_id"],
        allowed=requested["allowed_origins"],
        hours=requested["expires_in_hours"],
        rotate=requested["rotate"],
        now=now,
    )
    before, after = _AUDITED.dump(issued.before) if issued.before else None, _AUDITED.dump(issued.token)
    audit.record(_action(issued, requested["rotate"]), issued.token.id, before=before, after=after, now=now)
    affiliate = {"affiliateName": issued.affiliate.full_name, "affiliateEmail": issued.affiliate.email}
    token = embed_bearer.encode(issued.token.id, issued.token.generation)
    return 201 if issued.is_new else 200, {**_with_url(_OWN.dump(issued.token)), **affiliate, "token": token}


def _action(issued: IssuedToken, rotate: bool) -> str:
    if not issued.is_new:
        return "embed_token.changed"
    return "embed_token.rotated" if rotate and issued.before else "embed_token.created"


@blueprint.get("/api/v1/embed/tokens")
@operation(_GUARD, page(EmbedTokenRecord()), asks=EmbedTokensQuery())
def list_embed_tokens() -> Mapping[str, object]:
    """List the tokens that were not revoked, newest first; never their bearer values. Budget: 1 statement."""
    query = body.query()
    page_request = paging.read_page_request(query)
    with db.unit_of_work(guards.organization_id()):
        rows = embed_tokens.page(
            organization_id=guards.organization_id(), affiliate_id=query["affiliate_id"], **page_request.window
        )
    return paging.serialize_page(page_request, rows, lambda some: [_with_url(_RECORD.dump(row)) for row in some])


@blueprint.delete("/api/v1/embed/tokens/<token_id>")
@operation(_GUARD, status=204, refuses=("404 not_found",))
def delete_embed_token(token_id: str) -> Response:
    """Revoke a token at once: its page disappears, and requests with it are refused. 204."""
    now, token_uuid = clock.now(), path.uuid(token_id, "embed token")
    with db.unit_of_work(guards.organization_id()):
        ended = embed_tokens.revoke(organization_id=guards.organization_id(), token_id=token_uuid, at=now)
        if ended is None:
            raise not_found("embed token", token_uuid)
        audit.record("embed_token.revoked", token_uuid, before=_AUDITED.dump(ended), now=now)
    callers.clear_cache()
    return Response(status=204)


def _with_url(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "embedUrl": f"{settings.current().web.url}/embed/{record['id']}"}


def find_frame_origins(embed_id: str) -> tuple[str, ...]:
    """Return the origins that may frame the page of a live token; none for any other text. Budget: 1 statement."""
    try:
        token_id = UUID(embed_id)
    except ValueError:
        return ()
    with db.any_org_work():
        return embed_tokens.any_org_find_frame_origins(token_id, now=clock.now())
