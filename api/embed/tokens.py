"""Embed tokens, as a brand makes and ends them; one for each affiliate.

Source: core spec, "Endpoints" (embed token endpoints), section 5 "Plan gates".
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

import settings
from adapters import clock, embed_bearer
from api.access import callers, guards
from api.access.guards import Guard
from api.edge import answers, audit, body, paging, path
from api.edge.operations import one, operation, page
from domain.organization import plans
from domain.refused import not_found
from models import db
from models.affiliates import embed_tokens
from pipelines.affiliates import embed_access
from pipelines.affiliates.embed_access import IssuedToken
from schemas.embed.token import EmbedTokenBody, EmbedTokenRecord, EmbedTokensQuery, IssuedEmbedToken

blueprint = Blueprint("embed_tokens", __name__)

# Whoever may list them may make one, so reading asks for as much.
_GUARD = Guard(audience="brand", scope="read_write", plan=plans.Tier.Growth, closed_cors=True)
_RECORD = EmbedTokenRecord(exclude=("embed_url",))
_OWN = EmbedTokenRecord(exclude=("embed_url", "affiliate_name", "affiliate_email"))
# Of whom it is for, the log keeps the id alone.
_AUDITED = EmbedTokenRecord(only=("id", "affiliate_id", "allowed_origins", "expires_at"))


@blueprint.post("/api/v1/embed/tokens")
@operation(
    _GUARD,
    one(IssuedEmbedToken()),
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
    """Make the token of an affiliate, with which your site shows them what they have here.

    201 with a new one; 200 with the same token where one is live: its origins are replaced, its end stays. `rotate`
    ends the one that is live at once and makes another.
    """
    wanted = body.load()
    answer = answers.once(lambda: _create(wanted))
    if wanted["rotate"]:  # nothing else ends a token, and servers ask for theirs all the time
        callers.forget_cached()
    return answer


def _create(wanted: Mapping[str, Any]) -> answers.Answer:
    now = clock.now()
    issued = embed_access.issue(
        organization_id=guards.organization_id(),
        affiliate_id=wanted["affiliate_id"],
        allowed=wanted["allowed_origins"],
        hours=wanted["expires_in_hours"],
        rotate=wanted["rotate"],
        now=now,
    )
    before, after = _AUDITED.dump(issued.before) if issued.before else None, _AUDITED.dump(issued.token)
    audit.record(_action(issued, wanted["rotate"]), issued.token.id, before=before, after=after, now=now)
    named = {"affiliateName": issued.affiliate.full_name, "affiliateEmail": issued.affiliate.email}
    token = embed_bearer.made(issued.token.id, issued.token.generation)
    return 201 if issued.is_new else 200, {**_shown(_OWN.dump(issued.token)), **named, "token": token}


def _action(issued: IssuedToken, was_asked_to_rotate: bool) -> str:
    if not issued.is_new:
        return "embed_token.changed"
    return "embed_token.rotated" if was_asked_to_rotate and issued.before else "embed_token.created"


@blueprint.get("/api/v1/embed/tokens")
@operation(_GUARD, page(EmbedTokenRecord()), asks=EmbedTokensQuery())
def list_embed_tokens() -> Mapping[str, object]:
    """List the tokens that were not revoked, newest first; never their bearer values. Budget: 1 statement."""
    query = body.query()
    asked = paging.wanted(query)
    with db.unit_of_work(guards.organization_id()):
        rows = embed_tokens.page(
            organization_id=guards.organization_id(),
            affiliate_id=query["affiliate_id"],
            after=asked.after,
            limit=asked.limit,
        )
    return paging.envelope(asked, rows, lambda some: [_shown(_RECORD.dump(row)) for row in some])


@blueprint.delete("/api/v1/embed/tokens/<token_id>")
@operation(_GUARD, status=204, refuses=("404 not_found",))
def delete_embed_token(token_id: str) -> Response:
    """End a token at once: its page is gone, and what holds it is refused. 204."""
    now, wanted_id = clock.now(), path.uuid(token_id, "embed token")
    with db.unit_of_work(guards.organization_id()):
        ended = embed_tokens.revoke(organization_id=guards.organization_id(), token_id=wanted_id, at=now)
        if ended is None:
            raise not_found("embed token", wanted_id)
        audit.record("embed_token.revoked", wanted_id, before=_AUDITED.dump(ended), now=now)
    callers.forget_cached()
    return Response(status=204)


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "embedUrl": f"{settings.current().web.url}/embed/{record['id']}"}
