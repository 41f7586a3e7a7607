"""`flask affiliate`: what an operator does for one affiliate."""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from domain.payouts import destinations
from domain.payouts.destinations import PayoutAccount
from domain.payouts.transfers import Method
from domain.refusals import not_found
from domain.statuses import AffiliateStatus
from models.programs import programs
from pipelines.affiliates import enrollment, tax_form_files
from pipelines.payouts import choose_account
from schemas.affiliates.tax_form import TYPES
from schemas.payouts.account import PayoutAccountBody

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


@group.command("payout-account")
@click.argument("affiliate_id", type=click.UUID, metavar="ID")
@click.option("--method", type=click.Choice(list(destinations.FIELDS)), help="How they are paid.")
@click.option("--email", help="The wallet's address, for Wallet.")
@click.option("--account", help="The connected account (acct_...), or the recipient for GlobalPayouts.")
@click.option("--clear", is_flag=True, help="Take back what an operator said.")
@output.json_option
def payout_account(
    affiliate_id: UUID, *, method: str | None, email: str | None, account: str | None, clear: bool, as_json: bool
) -> None:
    """Show where an affiliate is paid, or say it for one who has not: what they say themselves goes first."""
    if clear and (method or email or account):
        raise click.UsageError("--clear takes nothing else.")
    wanted = _account(method, email, account)
    with output.every_tenant():
        if wanted is None and not clear:
            found = choose_account.any_org_find_effective(affiliate_id)
        else:
            found = _decide(affiliate_id, wanted)
    shown = {
        "affiliateId": str(affiliate_id),
        "method": found.account.method if found.account else None,
        "destination": destinations.mask(found.account.destination) if found.account else None,
        "source": found.source,
    }
    output.show(shown, as_json=as_json, person=lambda: click.echo(_said(shown)))


def _decide(affiliate_id: UUID, wanted: PayoutAccount | None) -> choose_account.EffectiveAccount:
    decided = choose_account.any_org_set_for_affiliate(affiliate_id=affiliate_id, account=wanted)
    said = {
        "before": decided.before.audit_fields if decided.before else None,
        "after": wanted.audit_fields if wanted else None,
    }
    trail.record("payout_account.changed", said, about=affiliate_id, organization_id=decided.now.organization_id)
    return decided.now


def _account(method: str | None, email: str | None, account: str | None) -> PayoutAccount | None:
    """Return the account that the options name, None for none; half an account is a usage error."""
    if method is None and email is None and account is None:
        return None
    sent = {"method": method, "walletEmail": email}
    sent["recipientId" if method == Method.GlobalPayouts else "connectedAccountId"] = account
    wrong = PayoutAccountBody().validate(sent)
    if method is None or wrong:
        raise click.UsageError("Give --method Wallet with --email, or another method with its --account.")
    loaded = PayoutAccountBody().load(sent)
    return PayoutAccount(loaded["method"], loaded[destinations.FIELDS[loaded["method"]]])


def _said(shown: Mapping[str, object]) -> str:
    if shown["method"] is None:
        return f"{shown['affiliateId']}: nowhere yet; they say it themselves, or give --method"
    return f"{shown['affiliateId']}: {shown['method']} {shown['destination']} (said by: {shown['source']})"


@group.command("make-test")
@click.argument("program_id", type=click.UUID)
@output.json_option
def make_test(program_id: UUID, as_json: bool) -> None:
    """Make an Approved affiliate to rehearse with; what it earns is never paid."""
    with output.every_tenant():
        organization_id = programs.any_org_find_organization(program_id)
        if organization_id is None:
            raise not_found("program", program_id)
        joined = enrollment.create(
            organization_id=organization_id,
            body={
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


def _keeper(affiliate_id: UUID, type: str | None, file: Path | None) -> Callable[[], tax_form_files.StoredForm]:
    """Return what puts the form on file. Reads the file, and not more of it than may be kept."""
    if type is None or file is None:
        return lambda: tax_form_files.any_org_record_at_provider(affiliate_id=affiliate_id, now=clock.now())
    with file.open("rb") as opened:
        content = opened.read(tax_form_files.MAX_BYTES + 1)
    return lambda: tax_form_files.any_org_store(affiliate_id=affiliate_id, type=type, content=content, now=clock.now())
