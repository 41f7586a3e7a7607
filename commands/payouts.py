"""`flask payout`: what an operator sees of payouts, and decides about those that wait for one."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.payouts import destinations
from domain.payouts.states import PayoutStatus
from domain.refusals import not_found
from models.payouts import admin_queries, lines, payouts, rail_events
from pipelines.operating import payout_reviews

group = AppGroup("payout", help="Payouts that wait for an operator.")

_NO_RUN = "There is no payout run yet: an Owner makes one (POST /api/v1/payouts/run)."
_organization = click.option("--org", "organization", type=click.UUID, help="Of this organization alone.")
_limit = click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)


@group.command("runs")
@_organization
@click.option("--waiting", is_flag=True, help="Only those that wait for a review.")
@_limit
@output.json_option
def runs(organization: UUID | None, waiting: bool, limit: int, as_json: bool) -> None:
    """List runs, newest first."""
    with output.every_tenant():
        found = admin_queries.any_org_list_runs(organization_id=organization, only_waiting=waiting, limit=limit)
    output.show(
        [asdict(run) for run in found],
        as_json=as_json,
        person=lambda: output.table(
            ("run", "organization", "payouts", "pending", "US cents", "review", "held until", "made"),
            [
                (run.id, run.organization, run.payouts, run.pending, run.amount_cents, run.review_status,
                 run.hold_until, run.created_at) for run in found
            ],
            empty="There is no such run." if organization or waiting else _NO_RUN,
        ),
    )  # fmt: skip


@group.command("list")
@_organization
@click.option("--run", "run_id", type=click.UUID, help="Of this run alone.")
@click.option("--status", type=click.Choice([*PayoutStatus]))
@_limit
@output.json_option
def every(organization: UUID | None, run_id: UUID | None, status: str | None, limit: int, as_json: bool) -> None:
    """List payouts, newest first."""
    with output.every_tenant():
        found = admin_queries.any_org_list_payouts(
            organization_id=organization, run_id=run_id, status=status, limit=limit
        )
    output.show(
        [asdict(payout) for payout in found],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "run", "affiliate", "US cents", "method", "status", "attempt", "failed because", "made"),
            [
                (one.id, one.run_id, one.affiliate_id, one.amount_cents, one.method, one.status, one.attempt,
                 one.failure_code, one.created_at) for one in found
            ],
            empty="There is no such payout." if organization or run_id or status else f"There is no payout. {_NO_RUN}",
        ),
    )  # fmt: skip


@group.command("show")
@click.argument("payout_id", type=click.UUID)
@output.json_option
def show(payout_id: UUID, as_json: bool) -> None:
    """Show one payout: where it stands, what its rail was asked and said, what it pays for."""
    with output.every_tenant():
        shown = _shown(payout_id)
    output.show(shown, as_json=as_json, person=lambda: _print(shown))


@group.command("events")
@click.option("--open", "only_open", is_flag=True, help="Only those that are about nothing known, or contradict us.")
@_limit
@output.json_option
def events(only_open: bool, limit: int, as_json: bool) -> None:
    """List what rails confirmed by themselves, newest first, and what came of it."""
    with output.every_tenant():
        found = rail_events.any_org_list(only_open=only_open, limit=limit)
    output.show(
        [asdict(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("rail", "event", "says", "outcome", "payout", "key", "received"),
            [
                (one.rail, one.event_id, one.answer, one.outcome, one.payout_id, one.payout_key, one.received_at)
                for one in found
            ],
            empty="No event is open." if only_open else "No rail has posted an event yet.",
        ),
    )


@group.command("review")
@click.argument("run_id", type=click.UUID, metavar="RUN")
@click.option("--approve/--reject", "is_approved", default=None, help="Let its payouts go, or fail them.")
@click.option("--why", required=True, help="For the audit log of the brand.")
@output.json_option
def review(run_id: UUID, is_approved: bool | None, why: str, as_json: bool) -> None:
    """Decide about a run that waits for a review."""
    if is_approved is None:
        raise click.UsageError("Say either --approve or --reject.")
    with output.every_tenant():
        reviewed = payout_reviews.any_org_review(run_id=run_id, is_approved=is_approved, now=clock.now())
        said = {"reviewStatus": reviewed.status, "why": why, "payouts": reviewed.payouts}
        trail.record("payout.reviewed", said, about=run_id, organization_id=reviewed.organization_id)
    following = "they are sent, after their hold" if is_approved else "they failed; the Owner voids or leaves them"
    output.show(
        {"id": str(run_id), **said},
        as_json=as_json,
        person=lambda: click.echo(f"{run_id} is {reviewed.status}, with {reviewed.payouts} payouts: {following}."),
    )


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
        settled = payout_reviews.any_org_settle(
            payout_id=payout_id, paid_as=paid_as, failed_because=failed_because, now=clock.now()
        )
        said = {"status": settled.status, "reference": paid_as, "why": failed_because, "key": settled.key}
        trail.record("payout.settled", said, about=payout_id, organization_id=settled.organization_id)
    following = "" if paid_as else "\nNext: its Owner retries or voids it."
    output.show(
        {"id": str(payout_id), **said},
        as_json=as_json,
        person=lambda: click.echo(f"{payout_id} is {settled.status}.{following}"),
    )


def _shown(payout_id: UUID) -> dict[str, Any]:
    organization_id = payouts.any_org_find_organization(payout_id)
    payout = organization_id and payouts.find(organization_id=organization_id, payout_id=payout_id)
    if not payout:
        raise not_found("payout", payout_id)
    where = {"organization_id": payout.organization_id, "payout_id": payout_id}
    paying = lines.list_of_payout(**where)
    return asdict(payout) | {
        "destination": destinations.mask(payout.destination),
        "attempts": [asdict(asked) for asked in admin_queries.list_attempts(**where)],
        "lines": len(paying),
        "open_lines": sum(line.is_open for line in paying),
    }


def _print(shown: Mapping[str, Any]) -> None:
    for name, value in shown.items():
        if name != "attempts" and value is not None:
            click.echo(f"{name:24} {value}")
    for asked in shown["attempts"]:
        said = asked["detail"] or ""
        click.echo(
            f"\nattempt {asked['number']}  {asked['key']}  {asked['state']}, {asked['age']} ago  {said}".rstrip()
        )
    if shown["status"] == PayoutStatus.Processing:
        click.echo("\nNext: look at the rail's own dashboard for that key; docs/payouts.md, A rail never says.")
