"""Tokens for the embedded page in a brand's own site: the list, a new one for an affiliate, and revoking one."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

import settings
from api.affiliates.affiliates import get_affiliate
from api.embed.tokens import create_embed_token, delete_embed_token, list_embed_tokens
from pages import api_client, form_values, forms, screens
from pages.form_pages import CustomForm, Form, form_page, send
from pages.forms import FormState
from pages.list_pages import RowList

blueprint = Blueprint("embed_tokens_page", __name__)

_HERE = "/dashboard/embed"
_OF_AFFILIATE = "/dashboard/affiliates/<affiliate_id>/embed"
_TOKENS = RowList(list_embed_tokens)
_DEFAULT_HOURS = "24"


@form_page(blueprint, "member", _HERE, Form("/<token_id>/revoke", delete_embed_token), uses=(list_embed_tokens,))
def show_embed_tokens(form: FormState | None) -> Response:
    """Show the tokens that were not revoked, newest first. Budget: 1 round trip."""
    return screens.render("brand/embed.html", **_TOKENS.require().values(form))


def _create_token(affiliate_id: str) -> Response | FormState:
    """Create an affiliate's token, or show the current one, with the snippet for the brand's page."""
    body = {
        "affiliateId": affiliate_id,
        "allowedOrigins": request.form.get("allowedOrigins", "").split(),
        "expiresInHours": form_values.parse_number(request.form.get("expiresInHours", "")),
        "rotate": "rotate" in request.form,
    }
    answer = send(create_embed_token, body=body)
    return (
        forms.form_from_refusal(answer) if answer.refusal else _render_form(None, affiliate_id, new_token=answer.data)
    )


@form_page(
    blueprint,
    "member",
    _OF_AFFILIATE,
    CustomForm("", _create_token, (create_embed_token,)),
    uses=(get_affiliate, list_embed_tokens),
    restores=True,
)
def show_embed_form(form: FormState | None, affiliate_id: str) -> Response:
    """Show the form for an affiliate's token, with the origins of the current one. Budget: 5 round trips."""
    return _render_form(form, affiliate_id)


def _render_form(form: FormState | None, affiliate_id: str, new_token: Mapping[str, Any] | None = None) -> Response:
    affiliate = api_client.require(get_affiliate, path={"affiliate_id": affiliate_id})
    tokens = api_client.require(list_embed_tokens, query={"affiliateId": affiliate_id})["items"]
    origins = "\n".join(tokens[0]["allowedOrigins"]) if tokens else ""
    return screens.render(
        "brand/embed_token.html",
        form or forms.prefill(allowedOrigins=origins, expiresInHours=_DEFAULT_HOURS),
        affiliate=affiliate,
        name=affiliate["fullName"] or affiliate["email"],
        held=tokens[0] if tokens else None,
        made=new_token,
        snippet=_embed_snippet(new_token) if new_token else None,
        example="https://app.example.com",
    )


def _embed_snippet(new_token: Mapping[str, Any]) -> str:
    """Return the HTML for the brand's page; its values are the service's own and need no escaping."""
    script = f"{settings.current().web.url}/embed.js"
    place = f'<div data-finderfee-embed="{new_token["embedUrl"]}"\n     data-token="{new_token["token"]}"></div>'
    return f'{place}\n<script async src="{script}"></script>'
