"""`flask embed`: what an operator does about the tokens with which brands show their affiliates what they have."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.refusals import not_found
from models.affiliates import embed_tokens

group = AppGroup("embed", help="Tokens of pages that brands show in their own sites.")


@group.command("expire")
@click.argument("token_id", type=click.UUID, metavar="ID")
@output.json_option
def expire(token_id: UUID, as_json: bool) -> None:
    """Have a token's time be over now, as it will be by itself: to see what the brand's site does then."""
    with output.every_tenant():
        token = embed_tokens.any_org_expire(token_id, at=clock.now())
        if token is None:
            raise not_found("embed token", token_id)
        shown = {"id": str(token.id), "affiliateId": str(token.affiliate_id), "expiresAt": token.expires_at.isoformat()}
        trail.record("embed_token.expired", shown, about=token.id, organization_id=token.organization_id)
    output.show(shown, as_json=as_json, person=lambda: click.echo(f"{token_id}: over since {shown['expiresAt']}"))
