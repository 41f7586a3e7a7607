"""`flask jobs losses` and `flask jobs accept-loss`: undone work of discarded money jobs, and its acceptance."""

from uuid import UUID

import click

from commands import audit_trail, output
from commands.service.discarding import describe_leaves
from models.jobs import discarded_jobs
from models.jobs.discarded_jobs import OpenLoss
from pipelines.operating import discards


@click.command("losses")
@click.option("--org", "organization_id", type=click.UUID, help="Only this organization.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_losses(*, organization_id: UUID | None, limit: int, as_json: bool) -> None:
    """List discarded money jobs whose work is still undone, and how to do it after all."""
    with output.operator_transaction():
        listed = discarded_jobs.any_org_list_open_losses(organization_id=organization_id, limit=limit)
    output.show(
        [_serialize(loss) for loss in listed],
        as_json=as_json,
        print_text=lambda: output.table(
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
@click.option("--why", default="", help="Required; recorded in the audit log.")
@click.option("--dry-run", is_flag=True, help="Only show what would be accepted.")
@output.json_option
def accept_loss(*, job_ids: tuple[int, ...], why: str, dry_run: bool, as_json: bool) -> None:
    """Accept the undone work of discarded jobs, by job id: the ledger check no longer reports it.

    Nothing is booked. A sale or an event that is sent again is still processed.
    """
    if not dry_run and not why.strip():
        raise click.UsageError("Missing option '--why': give a reason for the audit log.")
    with output.operator_transaction():
        accepted = discards.any_org_accept_losses(job_ids, why=why, is_dry=dry_run)
        for loss in accepted if not dry_run else ():
            audit_trail.record(
                "job.loss_accepted",
                {"why": why, **_serialize(loss)},
                about=loss.id,
                organization_id=loss.organization_id,
            )

    def print_text() -> None:
        for loss in accepted:
            verb = "Would accept" if dry_run else "Accepted"
            click.echo(f"{verb} the loss of {loss.id} ({loss.leaves.kind}): {describe_leaves(loss.leaves)}")
        organizations = sorted({str(loss.organization_id) for loss in accepted})
        click.echo("Next: " + "; ".join(f"flask ledger check --org {organization}" for organization in organizations))

    output.show(
        {"would_accept" if dry_run else "accepted": [_serialize(loss) for loss in accepted]},
        as_json=as_json,
        print_text=print_text,
    )


def _serialize(loss: OpenLoss) -> dict[str, object]:
    return {
        "id": loss.id,
        "organization": str(loss.organization_id),
        "discarded_at": loss.discarded_at.isoformat(),
        "leaves": discards.loss_json(loss.leaves),
    }
