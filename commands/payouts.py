"""`flask payout`: payouts that wait for an operator."""

from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.refused import not_found
from models.payouts import payouts
from pipelines.payouts import decisions, transfer

group = AppGroup("payout", help="Payouts that wait for an operator.")


@group.command("settle")
@click.argument("payout_id", type=click.UUID)
@click.option("--paid", "paid_as", metavar="REFERENCE", help="The rail has paid it, and calls the payment this.")
@click.option("--failed", "failed_because", metavar="WHY", help="The rail has not paid it and never will.")
@output.json_option
def settle(payout_id: UUID, paid_as: str | None, failed_because: str | None, as_json: bool) -> None:
    """Settle a payout that stays Processing, or that a rail says it paid after all, by the rail's own dashboard.

    Look there first: --failed frees the payout to be sent again under a new key, which pays twice if the rail has paid.
    """
    if bool(paid_as) == bool(failed_because):
        raise click.UsageError("Say either --paid REFERENCE or --failed WHY.")
    with output.every_tenant():
        organization_id = payouts.any_org_organization_of(payout_id)
        if organization_id is None:
            raise not_found("payout", payout_id)
        payout = decisions.lock(organization_id=organization_id, payout_id=payout_id)
        attempt = payouts.attempt_of(payout)
        status = transfer.settle_by_hand(payout, paid_as=paid_as, failed_because=failed_because, now=clock.now())
        said = {"status": status, "reference": paid_as, "why": failed_because, "key": attempt.key if attempt else None}
        trail.record("payout.settled", said, about=payout_id, organization_id=organization_id)
    following = "" if paid_as else "\nNext: its Owner retries or voids it."
    output.show(
        {"id": str(payout_id), **said},
        as_json=as_json,
        person=lambda: click.echo(f"{payout_id} is {status}.{following}"),
    )
