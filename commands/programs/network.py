"""`flask program network`: which programs affiliates find in the creator network is decided by an operator."""

from collections.abc import Callable
from dataclasses import asdict
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.listing import NetworkReview
from models.programs.programs import Program
from pipelines.programs import network_listing, supervision

group = AppGroup("network", help="The review of programs that their brands list in the creator network.")

_COLUMNS = ("id", "organization", "name", "category", "may list", "asked", "decided", "why")
_BY = "flask"


@group.command("list")
@click.option("--status", type=click.Choice([*NetworkReview]), default=NetworkReview.Pending.value, show_default=True)
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def every(status: str, limit: int, as_json: bool) -> None:
    """List programs whose review stands so, those that wait longest first; descriptions are cut short."""
    with output.every_tenant():
        found = network_listing.any_org_list_reviews(status=status, after=None, limit=limit)
    output.show(
        [asdict(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            _COLUMNS,
            [
                (one.id, one.organization_name, one.name, one.category, one.may_list, one.asked_at, one.decided_at,
                 one.reason) for one in found
            ],
            empty=f"No program's review is {status}.",
        ),
    )  # fmt: skip


@group.command("approve")
@click.argument("program_id", type=click.UUID, metavar="PROGRAM")
@click.option("--why", default=None, help="Told to the brand, and kept in its audit log.")
@output.json_option
def approve(program_id: UUID, why: str | None, as_json: bool) -> None:
    """Let affiliates find a program that waits for its review, while its brand has plan and funding."""
    _decide(program_id, "program.network_approved", network_listing.approve, why)
    _say(program_id, NetworkReview.Approved, as_json, "is in the network.")


@group.command("reject")
@click.argument("program_id", type=click.UUID, metavar="PROGRAM")
@click.option("--why", required=True, help="Told to the brand, and kept in its audit log.")
@output.json_option
def reject(program_id: UUID, why: str, as_json: bool) -> None:
    """Turn down a program that waits for its review; it becomes Private, and its brand may ask again."""
    _decide(program_id, "program.network_rejected", network_listing.reject, why)
    _say(program_id, NetworkReview.Rejected, as_json, "is not listed in the network.")


@group.command("revoke")
@click.argument("program_id", type=click.UUID, metavar="PROGRAM")
@click.option("--why", required=True, help="Told to the brand, and kept in its audit log.")
@output.json_option
def revoke(program_id: UUID, why: str, as_json: bool) -> None:
    """Take a program that was approved out of the network; it becomes Private, and its brand may ask again."""
    _decide(program_id, "program.network_revoked", network_listing.revoke, why)
    _say(program_id, NetworkReview.Rejected, as_json, "is in the network no more.")


def _decide(program_id: UUID, action: str, act: Callable[..., Program], why: str | None) -> None:
    if why is not None and not why.strip():
        raise click.BadParameter("say why", param_hint="--why")
    with output.every_tenant():
        before = supervision.any_org_lock(program_id)
        after = act(program=before, by=_BY, why=why, now=clock.now())
        said = {"networkVisibility": after.network_visibility, "networkReview": after.network_review, "why": why}
        trail.record(action, said, about=program_id, organization_id=after.organization_id)


def _say(program_id: UUID, review: NetworkReview, as_json: bool, said: str) -> None:
    output.show(
        {"id": str(program_id), "networkReview": review.value},
        as_json=as_json,
        person=lambda: click.echo(f"Program {program_id} {said}\nNext: flask program network list"),
    )
