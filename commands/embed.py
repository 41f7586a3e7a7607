"""`flask embed`: tokens with which brands embed pages for their affiliates in their own sites."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from domain.refusals import not_found
from models.affiliates import embed_tokens

group = AppGroup("embed", help="Tokens of pages that brands show in their own sites.")


@group.command("expire")
@click.argument("token_id", type=click.UUID, metavar="ID")
@output.json_option
def expire(token_id: UUID, as_json: bool) -> None:
    """Expire a token now, to test how the brand's site handles an expired token."""
    with output.operator_transaction():
        token = embed_tokens.any_org_expire(token_id, at=clock.now())
        if token is None:
            raise not_found("embed token", token_id)
        document = {
            "id": str(token.id),
            "affiliateId": str(token.affiliate_id),
            "expiresAt": token.expires_at.isoformat(),
        }
        audit_trail.record("embed_token.expired", document, about=token.id, organization_id=token.organization_id)
    output.show(
        document, as_json=as_json, print_text=lambda: click.echo(f"{token_id}: expired at {document['expiresAt']}")
    )
