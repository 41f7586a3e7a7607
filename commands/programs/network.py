"""`flask program network`: the operator's review of programs that brands list in the creator network."""

from collections.abc import Callable
from dataclasses import asdict
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from domain.listing import NetworkReview
from models.programs.programs import Program
from pipelines.programs import network_listing, supervision

group = AppGroup("network", help="The review of programs that their brands list in the creator network.")

_COLUMNS = ("id", "organization", "name", "category", "may list", "requested", "decided", "why")
_BY = "flask"


@group.command("list")
@click.option("--status", type=click.Choice([*NetworkReview]), default=NetworkReview.Pending.value, show_default=True)
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_queue(status: str, limit: int, as_json: bool) -> None:
    """List programs by review status, longest waiting first; descriptions are shortened."""
    with output.operator_transaction():
        queue = network_listing.any_org_list_reviews(status=status, after=None, limit=limit)
    output.show(
        [asdict(program) for program in queue],
        as_json=as_json,
        print_text=lambda: output.table(
            _COLUMNS,
            [
                (row.id, row.organization_name, row.name, row.category, row.may_list, row.asked_at, row.decided_at,
                 row.reason) for row in queue
            ],
            empty=f"No program's review is {status}.",
        ),
    )  # fmt: skip


@group.command("approve")
@click.argument("program_id", type=click.UUID, metavar="PROGRAM")
@click.option("--why", default=None, help="Sent to the brand, and recorded in its audit log.")
@output.json_option
def approve(program_id: UUID, why: str | None, as_json: bool) -> None:
    """Approve a program that waits for its review. Affiliates find it while its brand has plan and funding."""
    _decide(program_id, "program.network_approved", network_listing.approve, why)
    _print_outcome(program_id, NetworkReview.Approved, as_json, "is in the network.")


@group.command("reject")
@click.argument("program_id", type=click.UUID, metavar="PROGRAM")
@click.option("--why", required=True, help="Sent to the brand, and recorded in its audit log.")
@output.json_option
def reject(program_id: UUID, why: str, as_json: bool) -> None:
    """Reject a program that waits for its review; it becomes Private, and its brand may apply again."""
    _decide(program_id, "program.network_rejected", network_listing.reject, why)
    _print_outcome(program_id, NetworkReview.Rejected, as_json, "is not listed in the network.")


@group.command("revoke")
@click.argument("program_id", type=click.UUID, metavar="PROGRAM")
@click.option("--why", required=True, help="Sent to the brand, and recorded in its audit log.")
@output.json_option
def revoke(program_id: UUID, why: str, as_json: bool) -> None:
    """Remove an approved program from the network; it becomes Private, and its brand may apply again."""
    _decide(program_id, "program.network_revoked", network_listing.revoke, why)
    _print_outcome(program_id, NetworkReview.Rejected, as_json, "is no longer in the network.")


def _decide(program_id: UUID, action: str, act: Callable[..., Program], why: str | None) -> None:
    if why is not None and not why.strip():
        raise click.BadParameter("give a reason", param_hint="--why")
    with output.operator_transaction():
        before = supervision.any_org_lock(program_id)
        after = act(program=before, by=_BY, why=why, now=clock.now())
        details = {"networkVisibility": after.network_visibility, "networkReview": after.network_review, "why": why}
        audit_trail.record(action, details, about=program_id, organization_id=after.organization_id)


def _print_outcome(program_id: UUID, review: NetworkReview, as_json: bool, text: str) -> None:
    output.show(
        {"id": str(program_id), "networkReview": review.value},
        as_json=as_json,
        print_text=lambda: click.echo(f"Program {program_id} {text}\nNext: flask program network list"),
    )
