"""`flask jobs losses` and `flask jobs accept-loss`: what discarded jobs of money left undone, and the end of it."""

from uuid import UUID

import click

from commands import output, trail
from commands.service.discarding import describe_leaves
from models.jobs import discarded_jobs
from models.jobs.discarded_jobs import OpenLoss
from pipelines.operating import discards


@click.command("losses")
@click.option("--org", "organization_id", type=click.UUID, help="Of this organization.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def losses(*, organization_id: UUID | None, limit: int, as_json: bool) -> None:
    """List discarded jobs of money whose work is still undone, with how to have it done after all."""
    with output.every_tenant():
        listed = discarded_jobs.any_org_list_open_losses(organization_id=organization_id, limit=limit)
    output.show(
        [_as_json(loss) for loss in listed],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "job", "organization", "discarded", "leaves"),
            [
                (
                    loss.id,
                    loss.leaves.kind,
                    loss.organization_id,
                    loss.discarded_at.strftime("%Y-%m-%d %H:%M"),
                    describe_leaves(loss.leaves),
                )
                for loss in listed
            ],
            empty="No losses are open.",
        ),
    )


@click.command("accept-loss")
@click.argument("job_ids", type=int, nargs=-1, required=True)
@click.option("--why", default="", help="Required; kept in the audit log.")
@click.option("--dry-run", is_flag=True, help="Only show what would be accepted.")
@output.json_option
def accept_loss(*, job_ids: tuple[int, ...], why: str, dry_run: bool, as_json: bool) -> None:
    """Accept what discarded jobs left undone, by the jobs' ids: the ledger check no longer names it.

    Nothing is booked. A sale or an event that is sent again is still done after all.
    """
    if not dry_run and not why.strip():
        raise click.UsageError("Missing option '--why': say why, for the audit log.")
    with output.every_tenant():
        accepted = discards.any_org_accept_losses(job_ids, why=why, is_dry=dry_run)
        for loss in accepted if not dry_run else ():
            trail.record(
                "job.loss_accepted",
                {"why": why, **_as_json(loss)},
                about=loss.id,
                organization_id=loss.organization_id,
            )

    def person() -> None:
        for loss in accepted:
            verb = "Would accept" if dry_run else "Accepted"
            click.echo(f"{verb} the loss of {loss.id} ({loss.leaves.kind}): {describe_leaves(loss.leaves)}")
        organizations = sorted({str(loss.organization_id) for loss in accepted})
        click.echo("Next: " + "; ".join(f"flask ledger check --org {named}" for named in organizations))

    output.show(
        {"would_accept" if dry_run else "accepted": [_as_json(loss) for loss in accepted]},
        as_json=as_json,
        person=person,
    )


def _as_json(loss: OpenLoss) -> dict[str, object]:
    return {
        "id": loss.id,
        "organization": str(loss.organization_id),
        "discarded_at": loss.discarded_at.isoformat(),
        "leaves": discards.loss_json(loss.leaves),
    }
