"""`flask affiliate`: what an operator does for one affiliate."""

import secrets
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import click
from flask.cli import AppGroup

from commands import output, trail
from domain.refused import not_found
from domain.statuses import AffiliateStatus
from models import programs
from pipelines import affiliates as affiliate_rules
from pipelines import clock, tax_forms
from schemas.tax_form import TYPES

group = AppGroup("affiliate", help="Affiliates of all organizations.")


@group.command("tax-form")
@click.argument("affiliate_id", type=click.UUID, metavar="ID")
@click.option("--type", "type", type=click.Choice(TYPES), help="Which form the file is.")
@click.option("--file", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="PDF, PNG or JPEG.")
@click.option("--held-by-stripe", is_flag=True, help="The payout provider has the form, we do not.")
@output.json_option
def tax_form(affiliate_id: UUID, type: str | None, file: Path | None, held_by_stripe: bool, as_json: bool) -> None:
    """Put an affiliate's tax form on file in the place of the one before; the audit log keeps that it was."""
    if held_by_stripe == (file is not None) or (file is None) != (type is None):
        raise click.UsageError("Give --type and --file, or --held-by-stripe.")
    keep = _keeper(affiliate_id, type, file)
    with output.every_tenant():
        kept = keep()
        what = {"type": kept.form.type, "heldByStripe": kept.form.held_by_stripe}
        trail.record("tax_form.kept", what, about=affiliate_id, organization_id=kept.organization_id)
    output.show(
        {"affiliateId": str(affiliate_id), **what},
        as_json=as_json,
        person=lambda: click.echo(f"{affiliate_id}: {kept.form.type or 'held by the payout provider'}"),
    )


@group.command("make-test")
@click.argument("program_id", type=click.UUID)
@output.json_option
def make_test(program_id: UUID, as_json: bool) -> None:
    """Make an Approved affiliate to rehearse with; what it earns is never paid."""
    with output.every_tenant():
        organization_id = programs.any_org_owner(program_id)
        if organization_id is None:
            raise not_found("program", program_id)
        joined = affiliate_rules.create(
            organization_id=organization_id,
            wanted={
                "program_id": program_id,
                "email": f"test-{secrets.token_hex(4)}@example.com",
                "full_name": "Test affiliate",
                "status": AffiliateStatus.Approved.value,
                "custom_commission_type": None,
                "custom_commission_value": None,
                "alias": None,
            },
            is_test=True,
            now=clock.now(),
        )
        made = {"id": str(joined.affiliate.id), "email": joined.affiliate.email, "slug": joined.links[0].slug}
        trail.record("affiliate.created", made, about=joined.affiliate.id, organization_id=organization_id)
    output.show(made, as_json=as_json, person=lambda: click.echo(f"{made['id']}  {made['email']}  {made['slug']}"))


def _keeper(affiliate_id: UUID, type: str | None, file: Path | None) -> Callable[[], tax_forms.Kept]:
    """Return what puts the form on file. Reads the file, and not more of it than may be kept."""
    if type is None or file is None:
        return lambda: tax_forms.any_org_held_by_stripe(affiliate_id=affiliate_id, now=clock.now())
    with file.open("rb") as opened:
        content = opened.read(tax_forms.MOST_BYTES + 1)
    return lambda: tax_forms.any_org_keep(affiliate_id=affiliate_id, type=type, content=content, now=clock.now())
