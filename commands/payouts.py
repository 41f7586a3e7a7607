"""`flask payout`: list runs and payouts, review runs, and settle payouts whose rail never answered."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from domain.payouts import destinations
from domain.payouts.states import PayoutStatus
from domain.refusals import not_found
from models.payouts import admin_queries, lines, payouts, rail_events
from pipelines.operating import payout_reviews

group = AppGroup("payout", help="Payouts that wait for an operator.")

_NO_RUN = "There is no payout run yet: an Owner starts one (POST /api/v1/payouts/run)."
_organization = click.option("--org", "organization", type=click.UUID, help="Only this organization.")
_limit = click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)


@group.command("runs")
@_organization
@click.option("--waiting", is_flag=True, help="Only runs that wait for a review.")
@_limit
@output.json_option
def list_runs(organization: UUID | None, waiting: bool, limit: int, as_json: bool) -> None:
    """List runs, newest first."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list_runs(organization_id=organization, only_waiting=waiting, limit=limit)
    output.show(
        [asdict(run) for run in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("run", "organization", "payouts", "pending", "US cents", "review", "held until", "made"),
            [
                (run.id, run.organization, run.payouts, run.pending, run.amount_cents, run.review_status,
                 run.hold_until, run.created_at) for run in listed
            ],
            empty="There is no such run." if organization or waiting else _NO_RUN,
        ),
    )  # fmt: skip


@group.command("list")
@_organization
@click.option("--run", "run_id", type=click.UUID, help="Only this run.")
@click.option("--status", type=click.Choice([*PayoutStatus]))
@_limit
@output.json_option
def list_payouts(organization: UUID | None, run_id: UUID | None, status: str | None, limit: int, as_json: bool) -> None:
    """List payouts, newest first."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list_payouts(
            organization_id=organization, run_id=run_id, status=status, limit=limit
        )
    output.show(
        [asdict(payout) for payout in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "run", "affiliate", "US cents", "method", "status", "attempt", "failed because", "made"),
            [
                (row.id, row.run_id, row.affiliate_id, row.amount_cents, row.method, row.status, row.attempt,
                 row.failure_code, row.created_at) for row in listed
            ],
            empty="There is no such payout." if organization or run_id or status else f"There is no payout. {_NO_RUN}",
        ),
    )  # fmt: skip


@group.command("show")
@click.argument("payout_id", type=click.UUID)
@output.json_option
def show(payout_id: UUID, as_json: bool) -> None:
    """Show one payout: its status, its requests to the rail with their answers, and the lines it pays."""
    with output.operator_transaction():
        document = _load_payout(payout_id)
    output.show(document, as_json=as_json, print_text=lambda: _print_payout(document))


@group.command("events")
@click.option(
    "--open", "only_open", is_flag=True, help="Only events about unknown payouts, or that contradict the books."
)
@_limit
@output.json_option
def list_events(only_open: bool, limit: int, as_json: bool) -> None:
    """List events that rails posted, newest first, with their outcome."""
    with output.operator_transaction():
        listed = rail_events.any_org_list(only_open=only_open, limit=limit)
    output.show(
        [asdict(event) for event in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("rail", "event", "says", "outcome", "payout", "key", "received"),
            [
                (row.rail, row.event_id, row.answer, row.outcome, row.payout_id, row.payout_key, row.received_at)
                for row in listed
            ],
            empty="No event is open." if only_open else "No rail has posted an event yet.",
        ),
    )


@group.command("review")
@click.argument("run_id", type=click.UUID, metavar="RUN")
@click.option("--approve/--reject", "is_approved", default=None, help="Send its payouts, or fail them.")
@click.option("--why", required=True, help="For the audit log of the brand.")
@output.json_option
def review(run_id: UUID, is_approved: bool | None, why: str, as_json: bool) -> None:
    """Approve or reject a run that waits for a review."""
    if is_approved is None:
        raise click.UsageError("Give either --approve or --reject.")
    with output.operator_transaction():
        reviewed = payout_reviews.any_org_review(run_id=run_id, is_approved=is_approved, now=clock.now())
        outcome = {"reviewStatus": reviewed.status, "why": why, "payouts": reviewed.payouts}
        audit_trail.record("payout.reviewed", outcome, about=run_id, organization_id=reviewed.organization_id)
    following = "they are sent after their hold" if is_approved else "they failed; the Owner may void them"
    output.show(
        {"id": str(run_id), **outcome},
        as_json=as_json,
        print_text=lambda: click.echo(f"{run_id} is {reviewed.status}, with {reviewed.payouts} payouts: {following}."),
    )


@group.command("settle")
@click.argument("payout_id", type=click.UUID)
@click.option("--paid", "paid_as", metavar="REFERENCE", help="The rail has paid it, under this reference.")
@click.option("--failed", "failed_because", metavar="WHY", help="The rail has not paid it and never will.")
@output.json_option
def settle(payout_id: UUID, paid_as: str | None, failed_because: str | None, as_json: bool) -> None:
    """Settle a payout that stays Processing, or that its rail reports as paid after all.

    Look at the rail's dashboard first: --failed lets the payout be sent again under a new key, which pays twice if the
    rail has paid.
    """
    if bool(paid_as) == bool(failed_because):
        raise click.UsageError("Give either --paid REFERENCE or --failed WHY.")
    with output.operator_transaction():
        settled = payout_reviews.any_org_settle(
            payout_id=payout_id, paid_as=paid_as, failed_because=failed_because, now=clock.now()
        )
        outcome = {"status": settled.status, "reference": paid_as, "why": failed_because, "key": settled.key}
        audit_trail.record("payout.settled", outcome, about=payout_id, organization_id=settled.organization_id)
    following = "" if paid_as else "\nNext: its Owner retries or voids it."
    output.show(
        {"id": str(payout_id), **outcome},
        as_json=as_json,
        print_text=lambda: click.echo(f"{payout_id} is {settled.status}.{following}"),
    )


def _load_payout(payout_id: UUID) -> dict[str, Any]:
    organization_id = payouts.any_org_find_organization(payout_id)
    payout = organization_id and payouts.find(organization_id=organization_id, payout_id=payout_id)
    if not payout:
        raise not_found("payout", payout_id)
    key = {"organization_id": payout.organization_id, "payout_id": payout_id}
    payout_lines = lines.list_of_payout(**key)
    return asdict(payout) | {
        "destination": destinations.mask(payout.destination),
        "attempts": [asdict(attempt) for attempt in admin_queries.list_attempts(**key)],
        "lines": len(payout_lines),
        "open_lines": sum(line.is_open for line in payout_lines),
    }


def _print_payout(document: Mapping[str, Any]) -> None:
    for name, value in document.items():
        if name != "attempts" and value is not None:
            click.echo(f"{name:24} {value}")
    for row in document["attempts"]:
        detail = row["detail"] or ""
        click.echo(f"\nattempt {row['number']}  {row['key']}  {row['state']}, {row['age']} ago  {detail}".rstrip())
    if document["status"] == PayoutStatus.Processing:
        click.echo("\nNext: look for that key on the rail's dashboard; docs/payouts.md, A rail never reports.")
