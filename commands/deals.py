"""`flask deal`: what an operator sees of creator deals, and settles."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.deals.states import DealStatus
from domain.refusals import not_found
from models.deals import admin_queries, milestones, requests
from models.deals.milestones import MilestoneKey
from pipelines.deals import dispute, funding_calls, money
from pipelines.operating import deal_disputes

group = AppGroup("deal", help="Creator deals: their escrow, and disputes about it.")

_NO_DEAL = "There is no deal yet: a brand drafts one (POST /api/v1/deals)."


@group.command("list")
@click.option("--org", "organization", type=click.UUID, help="Of this organization alone.")
@click.option("--status", type=click.Choice([*DealStatus]))
@click.option("--disputed", is_flag=True, help="Only those with a milestone that waits to be settled.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def every(organization: UUID | None, status: str | None, disputed: bool, limit: int, as_json: bool) -> None:
    """List deals, newest first. Amounts are minor units of the deal's currency."""
    with output.every_tenant():
        found = admin_queries.any_org_list(
            organization_id=organization, status=status, only_disputed=disputed, limit=limit
        )
    output.show(
        [asdict(deal) for deal in found],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "organization", "title", "status", "currency", "charged", "held", "disputed", "charge", "made"),
            [
                (one.id, one.organization, one.title, one.status, one.currency, one.charged_cents, one.escrow_cents,
                 one.disputed, one.charge_state, one.created_at) for one in found
            ],
            empty="There is no such deal." if organization or status or disputed else _NO_DEAL,
        ),
    )  # fmt: skip


@group.command("show")
@click.argument("deal_id", type=click.UUID, metavar="DEAL")
@output.json_option
def show(deal_id: UUID, as_json: bool) -> None:
    """Show one deal: its milestones, its disputes, and what its funding source was asked and said."""
    with output.every_tenant():
        shown = _shown(deal_id)
    output.show(shown, as_json=as_json, person=lambda: _print(shown))


@group.command("settle")
@click.argument("milestone_id", type=click.UUID, metavar="MILESTONE")
@click.option("--to-affiliate", "cents", type=int, required=True, metavar="CENTS", help="The rest goes back.")
@click.option("--why", default="", help="For the audit log of the brand.")
@output.json_option
def settle(milestone_id: UUID, cents: int, why: str, as_json: bool) -> None:
    """Decide a dispute: CENTS of the milestone, in the deal's minor units, are paid to the affiliate."""
    with output.every_tenant():
        place = _place(milestone_id)
        deal = money.lock_for_payment_request(organization_id=place.organization_id, deal_id=place.deal_id)
        settled = dispute.settle(deal, milestone_id, to_affiliate_cents=cents, now=clock.now())
        said = deal_disputes.audit_data(deal, settled)
        told = said | {"why": why} if why else said
        trail.record("deal.settled", told, about=deal.id, organization_id=deal.organization_id)
    output.show(
        {"id": str(milestone_id), **said},
        as_json=as_json,
        person=lambda: click.echo(
            f"{milestone_id} is {settled.status}: {cents} {deal.currency} minor units to the affiliate,"
            f" {said['toBrandCents']} back to the brand.\nNext: flask deal show {deal.id}"
        ),
    )


@group.command("refund")
@click.argument("milestone_id", type=click.UUID, metavar="MILESTONE")
@output.json_option
def refund(milestone_id: UUID, as_json: bool) -> None:
    """Ask once more for what of a settled milestone goes back, after the funding source refused it."""
    with output.every_tenant():
        place = _place(milestone_id)
        deal = money.lock_for_payment_request(organization_id=place.organization_id, deal_id=place.deal_id)
        dispute.retry_refund(deal, milestone_id)
        said = {"milestoneId": str(milestone_id)}
        trail.record("deal.refund_asked", said, about=deal.id, organization_id=deal.organization_id)
    output.show(
        {"id": str(milestone_id), "dealId": str(deal.id)},
        as_json=as_json,
        person=lambda: click.echo(f"It is asked for again, under a new key.\nNext: flask deal show {deal.id}"),
    )


@group.command("answer")
@click.argument("request_id", type=click.UUID, metavar="REQUEST")
@click.option("--paid", "paid_as", metavar="REFERENCE", help="It was carried out, and is called this.")
@click.option("--failed", "failed_because", metavar="WHY", help="It was not carried out and never will be.")
@output.json_option
def answer(request_id: UUID, paid_as: str | None, failed_because: str | None, as_json: bool) -> None:
    """Say what became of a charge or a refund whose funding source never said, by the source's own dashboard.

    Look there first: --failed frees it to be asked for under a new key, which moves money twice if it was carried out.
    """
    if bool(paid_as) == bool(failed_because):
        raise click.UsageError("Say either --paid REFERENCE or --failed WHY.")
    with output.every_tenant():
        organization_id = requests.any_org_find_organization(request_id)
        request = organization_id and funding_calls.lock(organization_id=organization_id, request_id=request_id)
        if not request:
            raise not_found("charge or refund", request_id)
        state = funding_calls.settle_by_hand(request, paid_as=paid_as, failed_because=failed_because, now=clock.now())
        said = {"state": state, "key": request.key, "reference": paid_as, "why": failed_because}
        trail.record("deal.answered", said, about=request.deal_id, organization_id=request.organization_id)
    output.show(
        {"id": str(request_id), **said},
        as_json=as_json,
        person=lambda: click.echo(f"{request.key} is {state}.\nNext: flask deal show {request.deal_id}"),
    )


def _place(milestone_id: UUID) -> MilestoneKey:
    place = milestones.any_org_find_key(milestone_id)
    if place is None:
        raise not_found("milestone", milestone_id)
    return place


def _shown(deal_id: UUID) -> dict[str, Any]:
    whole = deal_disputes.any_org_find(deal_id)
    return asdict(whole.deal) | {
        "milestones": [asdict(one) for one in whole.milestones],
        "payouts": [asdict(one) for one in whole.payouts],
        "requests": [asdict(one) for one in whole.requests],
    }


def _print(shown: Mapping[str, Any]) -> None:
    for name, value in shown.items():
        if not isinstance(value, list) and value is not None:
            click.echo(f"{name:24} {value}")
    click.echo()
    output.table(
        ("seq", "milestone", "title", "cents", "take", "status", "to affiliate", "paid", "returned", "by itself at"),
        [
            (one["seq"], one["id"], one["title"], one["amount_cents"], one["take_cents"], one["status"],
             one["to_affiliate_cents"], one["paid_cents"], one["returned_cents"], one["auto_release_at"])
            for one in shown["milestones"]
        ],
        empty="",
    )  # fmt: skip
    for one in shown["milestones"]:
        if one["disputed_at"] is not None:
            click.echo(f"\ndispute about {one['seq']}, opened by the {one['opened_by']}: {one['dispute_reason']}")
            click.echo(f"they propose: {one['proposed_resolution']}")
    for one in shown["payouts"]:
        click.echo(f"\npayout {one['id']} of milestone {one['seq']}  {one['status']}, {one['amount_cents']} US cents")
    for one in shown["requests"]:
        said = one["reference"] or one["detail"] or ""
        click.echo(f"\n{one['kind']} {one['id']}  {one['key']}  {one['amount_cents']}  {one['state']}  {said}".rstrip())
