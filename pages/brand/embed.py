"""What a brand's own site shows its affiliates: the tokens that are in force, a new one for one affiliate, its end."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

import settings
from api.affiliates.affiliates import get_affiliate
from api.embed.tokens import create_embed_token, delete_embed_token, list_embed_tokens
from pages import calls, forms, kept, screens, typed
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("embed_tokens_page", __name__)

_HERE = "/dashboard/embed"
_OF_AFFILIATE = "/dashboard/affiliates/<affiliate_id>/embed"
_USES = (get_affiliate, list_embed_tokens, create_embed_token)
_USUAL_HOURS = "24"


@blueprint.get(_HERE)
@screen("member", uses=(list_embed_tokens, delete_embed_token))
def show_embed_tokens() -> Response:
    """Show the tokens that were not revoked, newest first. Budget: 1 round trip."""
    found = calls.needed(list_embed_tokens, query={"cursor": request.args.get("cursor") or None})
    return screens.show("brand/embed.html", tokens=found["items"], next_cursor=found["nextCursor"])


@blueprint.post(f"{_HERE}/<token_id>/revoke")
@screen("member", uses=(delete_embed_token,))
def send_embed_revocation(token_id: str) -> Response:
    """End a token at once."""
    calls.tried(delete_embed_token, path={"token_id": token_id})
    return screens.sent_on(_HERE)


@blueprint.get(_OF_AFFILIATE)
@screen("member", uses=_USES)
def show_embed_form(affiliate_id: str) -> Response:
    """Show the form for an affiliate's token, with the origins of the one in force. Budget: 5 round trips."""
    return _form(affiliate_id, kept.form())


@blueprint.post(_OF_AFFILIATE)
@screen("member", uses=_USES)
def send_embed_form(affiliate_id: str) -> Response:
    """Make an affiliate's token, or show the one in force, with what goes into the brand's page."""
    sent = request.form
    body = {
        "affiliateId": affiliate_id,
        "allowedOrigins": sent.get("allowedOrigins", "").split(),
        "expiresInHours": typed.number(sent.get("expiresInHours", "")),
        "rotate": "rotate" in sent,
    }
    answer = calls.tried(create_embed_token, body=body, key=forms.key())
    if answer.refusal is not None:
        return _form(affiliate_id, forms.refused(answer.refusal), status=answer.status)
    return _form(affiliate_id, None, made=answer.data)


def _form(
    affiliate_id: str, form: FormState | None, *, status: int = 200, made: Mapping[str, Any] | None = None
) -> Response:
    affiliate = calls.needed(get_affiliate, path={"affiliate_id": affiliate_id})
    held = calls.needed(list_embed_tokens, query={"affiliateId": affiliate_id})["items"]
    origins = "\n".join(held[0]["allowedOrigins"]) if held else ""
    return screens.show(
        "brand/embed_token.html",
        status=status,
        form=form or forms.blank(allowedOrigins=origins, expiresInHours=_USUAL_HOURS),
        here=f"/dashboard/affiliates/{affiliate_id}/embed",
        affiliate=affiliate,
        name=affiliate["fullName"] or affiliate["email"],
        held=held[0] if held else None,
        made=made,
        snippet=_snippet(made) if made else None,
        example="https://app.example.com",
    )


def _snippet(made: Mapping[str, Any]) -> str:
    """Return what stands in the brand's page: what is in it is ours, so there is nothing to escape."""
    script = f"{settings.current().web.url}/embed.js"
    place = f'<div data-finderfee-embed="{made["embedUrl"]}"\n     data-token="{made["token"]}"></div>'
    return f'{place}\n<script async src="{script}"></script>'
