"""`flask deal`: list creator deals, settle disputes, and record what became of charges and refunds."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from domain.deals.states import DealStatus
from domain.refusals import not_found
from models.deals import admin_queries, milestones, requests
from models.deals.milestones import MilestoneKey
from pipelines.deals import dispute, funding_calls, money
from pipelines.operating import deal_disputes

group = AppGroup("deal", help="Creator deals: their escrow, and disputes about it.")

_NO_DEAL = "There is no deal yet: a brand drafts one (POST /api/v1/deals)."


@group.command("list")
@click.option("--org", "organization", type=click.UUID, help="Only this organization.")
@click.option("--status", type=click.Choice([*DealStatus]))
@click.option("--disputed", is_flag=True, help="Only deals with a disputed milestone.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@output.json_option
def list_deals(organization: UUID | None, status: str | None, disputed: bool, limit: int, as_json: bool) -> None:
    """List deals, newest first. Amounts are minor units of the deal's currency."""
    with output.operator_transaction():
        deals = admin_queries.any_org_list(
            organization_id=organization, status=status, only_disputed=disputed, limit=limit
        )
    output.show(
        [asdict(deal) for deal in deals],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "organization", "title", "status", "currency", "charged", "held", "disputed", "charge", "made"),
            [
                (row.id, row.organization, row.title, row.status, row.currency, row.charged_cents, row.escrow_cents,
                 row.disputed, row.charge_state, row.created_at) for row in deals
            ],
            empty="There is no such deal." if organization or status or disputed else _NO_DEAL,
        ),
    )  # fmt: skip


@group.command("show")
@click.argument("deal_id", type=click.UUID, metavar="DEAL")
@output.json_option
def show(deal_id: UUID, as_json: bool) -> None:
    """Show one deal: its milestones, its disputes, and its requests to the funding source with their answers."""
    with output.operator_transaction():
        document = _load_deal(deal_id)
    output.show(document, as_json=as_json, print_text=lambda: _print_deal(document))


@group.command("settle")
@click.argument("milestone_id", type=click.UUID, metavar="MILESTONE")
@click.option(
    "--to-affiliate", "cents", type=int, required=True, metavar="CENTS", help="The rest goes back to the brand."
)
@click.option("--why", default="", help="For the audit log of the brand.")
@output.json_option
def settle(milestone_id: UUID, cents: int, why: str, as_json: bool) -> None:
    """Settle a dispute: CENTS of the milestone, in the deal's minor units, are paid to the affiliate."""
    with output.operator_transaction():
        place = _find_milestone(milestone_id)
        deal = money.lock_for_payment_request(organization_id=place.organization_id, deal_id=place.deal_id)
        settled = dispute.settle(deal, milestone_id, to_affiliate_cents=cents, now=clock.now())
        outcome = deal_disputes.audit_data(deal, settled)
        details = outcome | {"why": why} if why else outcome
        audit_trail.record("deal.settled", details, about=deal.id, organization_id=deal.organization_id)
    output.show(
        {"id": str(milestone_id), **outcome},
        as_json=as_json,
        print_text=lambda: click.echo(
            f"{milestone_id} is {settled.status}: {cents} {deal.currency} minor units to the affiliate,"
            f" {outcome['toBrandCents']} back to the brand.\nNext: flask deal show {deal.id}"
        ),
    )


@group.command("refund")
@click.argument("milestone_id", type=click.UUID, metavar="MILESTONE")
@output.json_option
def refund(milestone_id: UUID, as_json: bool) -> None:
    """Request a refund again that the funding source refused, for a settled milestone."""
    with output.operator_transaction():
        place = _find_milestone(milestone_id)
        deal = money.lock_for_payment_request(organization_id=place.organization_id, deal_id=place.deal_id)
        dispute.retry_refund(deal, milestone_id)
        details = {"milestoneId": str(milestone_id)}
        audit_trail.record("deal.refund_asked", details, about=deal.id, organization_id=deal.organization_id)
    output.show(
        {"id": str(milestone_id), "dealId": str(deal.id)},
        as_json=as_json,
        print_text=lambda: click.echo(
            f"The refund is requested again, under a new key.\nNext: flask deal show {deal.id}"
        ),
    )


@group.command("answer")
@click.argument("request_id", type=click.UUID, metavar="REQUEST")
@click.option("--paid", "paid_as", metavar="REFERENCE", help="It was carried out, under this reference.")
@click.option("--failed", "failed_because", metavar="WHY", help="It was not carried out and never will be.")
@output.json_option
def answer(request_id: UUID, paid_as: str | None, failed_because: str | None, as_json: bool) -> None:
    """Record what became of a charge or a refund that its funding source never answered.

    Look at the source's dashboard first: --failed lets it be requested again under a new key, which moves money twice
    if it was carried out.
    """
    if bool(paid_as) == bool(failed_because):
        raise click.UsageError("Give either --paid REFERENCE or --failed WHY.")
    with output.operator_transaction():
        organization_id = requests.any_org_find_organization(request_id)
        request = organization_id and funding_calls.lock(organization_id=organization_id, request_id=request_id)
        if not request:
            raise not_found("charge or refund", request_id)
        state = funding_calls.settle_by_hand(request, paid_as=paid_as, failed_because=failed_because, now=clock.now())
        outcome = {"state": state, "key": request.key, "reference": paid_as, "why": failed_because}
        audit_trail.record("deal.answered", outcome, about=request.deal_id, organization_id=request.organization_id)
    output.show(
        {"id": str(request_id), **outcome},
        as_json=as_json,
        print_text=lambda: click.echo(f"{request.key} is {state}.\nNext: flask deal show {request.deal_id}"),
    )


def _find_milestone(milestone_id: UUID) -> MilestoneKey:
    place = milestones.any_org_find_key(milestone_id)
    if place is None:
        raise not_found("milestone", milestone_id)
    return place


def _load_deal(deal_id: UUID) -> dict[str, Any]:
    whole = deal_disputes.any_org_find(deal_id)
    return asdict(whole.deal) | {
        "milestones": [asdict(milestone) for milestone in whole.milestones],
        "payouts": [asdict(payout) for payout in whole.payouts],
        "requests": [asdict(request) for request in whole.requests],
    }


def _print_deal(document: Mapping[str, Any]) -> None:
    for name, value in document.items():
        if not isinstance(value, list) and value is not None:
            click.echo(f"{name:24} {value}")
    click.echo()
    output.table(
        ("seq", "milestone", "title", "cents", "take", "status", "to affiliate", "paid", "returned", "auto-release at"),
        [
            (row["seq"], row["id"], row["title"], row["amount_cents"], row["take_cents"], row["status"],
             row["to_affiliate_cents"], row["paid_cents"], row["returned_cents"], row["auto_release_at"])
            for row in document["milestones"]
        ],
        empty="",
    )  # fmt: skip
    for row in document["milestones"]:
        if row["disputed_at"] is not None:
            click.echo(f"\ndispute about {row['seq']}, opened by the {row['opened_by']}: {row['dispute_reason']}")
            click.echo(f"proposed resolution: {row['proposed_resolution']}")
    for row in document["payouts"]:
        click.echo(f"\npayout {row['id']} of milestone {row['seq']}  {row['status']}, {row['amount_cents']} US cents")
    for row in document["requests"]:
        reply = row["reference"] or row["detail"] or ""
        click.echo(
            f"\n{row['kind']} {row['id']}  {row['key']}  {row['amount_cents']}  {row['state']}  {reply}".rstrip()
        )
