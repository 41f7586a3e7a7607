"""Requests about affiliate invites, and their rows."""

from typing import Any
from uuid import uuid4

from werkzeug.test import TestResponse

from pipelines import mail
from tests.support.rows.brands import Brand

URL = "/api/affiliate-invites"


def unique_email(name: str = "ada") -> str:
    """Return an email that no other test has: accounts and slugs are unique in the whole service."""
    return f"{name}-{uuid4().hex[:12]}@example.com"


def unique_slug(name: str = "ada") -> str:
    """Return a slug that no other test has."""
    return f"{name}-{uuid4().hex[:12]}"


def invite(brand: Brand, **fields: Any) -> TestResponse:
    """Create an invite; a field given as `...` is left out."""
    body = {"programId": str(brand.programs[-1]), "email": unique_email()} | fields
    return brand.post(URL, {name: value for name, value in body.items() if value is not ...})


def token_from_invite(answer: TestResponse) -> str:
    """Return the token in the link of a response."""
    assert answer.status_code in (200, 201), answer.get_data(as_text=True)
    url: str = (answer.json or {})["acceptUrl"]
    return url.rpartition("/")[2]


def view_invite(brand: Brand, token: str) -> TestResponse:
    """Get an invite by its token, without signing in."""
    return brand.app.test_client().get(f"{URL}/by-token/{token}")


def accept_invite(brand: Brand, token: str, **request: Any) -> TestResponse:
    """Accept an invite by its token, without signing in."""
    return brand.app.test_client().post(f"{URL}/by-token/{token}/accept", **request)


def take_slug_elsewhere(brand: Brand, rival: Brand, owner: str, *, slug: str, email: str) -> None:
    """Take a slug outside the brand: for an affiliate of the rival, or (owner "account") for an affiliate account."""
    if owner == "account":
        brand.rows(
            "insert into affiliate_account (id, subject, email, slug) values (gen_random_uuid(), %s, %s, %s)"
            " returning id",
            slug,
            email,
            slug,
        )
    else:
        rival.program()
        rival.affiliate(slug, email=email)


def expire_invite(brand: Brand, invite_id: str) -> None:
    """Set the expiry of an invite into the past."""
    brand.rows(
        "update affiliate_invite set expires_at = now() - interval '1 second' where organization_id = %s and id = %s"
        " returning id",
        brand.id,
        invite_id,
    )


def list_invites(brand: Brand, columns: str) -> list[tuple[Any, ...]]:
    """Return columns of the brand's invites, oldest first."""
    return brand.rows(f"select {columns} from affiliate_invite order by created_at, id")


def create_pending_invites(brand: Brand, number: int) -> None:
    """Insert this many pending invites of the brand."""
    brand.rows(
        "insert into affiliate_invite (id, organization_id, program_id, email, auto_approve, token_hash, expires_at,"
        " created_at) select gen_random_uuid(), %s, %s, 'filler-' || n || '@example.com', true,"
        " sha256(gen_random_uuid()::text::bytea), now() + interval '1 day', now() from generate_series(1, %s) n"
        " returning id",
        brand.id,
        brand.programs[-1],
        number,
    )


def list_emails(brand: Brand) -> list[mail.OpenedMail]:
    """Return the brand's emails, decrypted, oldest first."""
    from models import db

    messages = brand.rows("select id from mail_message order by created_at, id")
    with db.any_org_work():
        return [mail.any_org_open(message_id) for (message_id,) in messages]


def list_audit_entries(brand: Brand) -> list[tuple[Any, ...]]:
    """Return the audit entries about invites, oldest first."""
    return brand.rows(
        "select action, entity_id, before, after from audit_entry where entity_type = 'affiliate_invite'"
        " order by created_at, id"
    )
