"""Tokens with which a brand's site shows its affiliates what they have, as its servers make them."""

from typing import Any
from uuid import UUID

from flask import Flask
from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

TOKENS = "/api/v1/embed/tokens"
ORIGIN = "https://app.acme.example"


def build_token_body(affiliate_id: UUID | str, **more: Any) -> dict[str, Any]:
    """Return the body that asks for an affiliate's token."""
    return {"affiliateId": str(affiliate_id), "allowedOrigins": [ORIGIN]} | more


def issue_token(owner: Brand, affiliate_id: UUID | str, **more: Any) -> dict[str, Any]:
    """Return the token that a brand makes for an affiliate, as it is answered."""
    answer = owner.post(TOKENS, build_token_body(affiliate_id, **more))
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json or {})


def issue_token_url(owner: Brand, affiliate_id: UUID | str) -> str:
    """Return the address of a token that a brand makes for an affiliate."""
    return f"{TOKENS}/{issue_token(owner, affiliate_id)['id']}"


def call_embed_api(
    app: Flask, token: str, path: str, *, method: str = "GET", body: Any = None, **headers: str
) -> TestResponse:
    """Return what is answered to somebody with an embed token, below /api/v1/embed."""
    auth_headers = {
        "Authorization": f"Bearer {token}",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return app.test_client().open(f"/api/v1/embed{path}", method=method, json=body, headers=auth_headers)
