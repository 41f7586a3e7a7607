"""Embed tokens, with which a brand's site shows affiliates their own data."""

from typing import Any
from uuid import UUID

from flask import Flask
from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

TOKENS = "/api/v1/embed/tokens"
ORIGIN = "https://app.acme.example"


def build_token_body(affiliate_id: UUID | str, **fields: Any) -> dict[str, Any]:
    """Return the request body for an affiliate's token."""
    return {"affiliateId": str(affiliate_id), "allowedOrigins": [ORIGIN]} | fields


def issue_token(owner: Brand, affiliate_id: UUID | str, **fields: Any) -> dict[str, Any]:
    """Create a token for an affiliate and return the response body."""
    answer = owner.post(TOKENS, build_token_body(affiliate_id, **fields))
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json or {})


def issue_token_url(owner: Brand, affiliate_id: UUID | str) -> str:
    """Create a token for an affiliate and return its URL."""
    return f"{TOKENS}/{issue_token(owner, affiliate_id)['id']}"


def call_embed_api(
    app: Flask, token: str, path: str, *, method: str = "GET", body: Any = None, **headers: str
) -> TestResponse:
    """Send a request with an embed token to a path below /api/v1/embed and return the response."""
    auth_headers = {
        "Authorization": f"Bearer {token}",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return app.test_client().open(f"/api/v1/embed{path}", method=method, json=body, headers=auth_headers)
