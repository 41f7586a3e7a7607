"""`flask affiliate`: an affiliate's tax form, payout account and test affiliates, as the operator changes them."""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
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
@click.option("--held-by-stripe", is_flag=True, help="The payout provider has the form; Finderfee does not.")
@output.json_option
def tax_form(affiliate_id: UUID, type: str | None, file: Path | None, held_by_stripe: bool, as_json: bool) -> None:
    """Store an affiliate's tax form in place of the one before; the audit log records it."""
    if held_by_stripe == (file is not None) or (file is None) != (type is None):
        raise click.UsageError("Give --type and --file, or --held-by-stripe.")
    store_form = _prepare_form(affiliate_id, type, file)
    with output.operator_transaction():
        filed = store_form()
        details = {"type": filed.form.type, "heldByStripe": filed.form.held_by_stripe}
        audit_trail.record("tax_form.kept", details, about=affiliate_id, organization_id=filed.organization_id)
    output.show(
        {"affiliateId": str(affiliate_id), **details},
        as_json=as_json,
        print_text=lambda: click.echo(f"{affiliate_id}: {filed.form.type or 'held by the payout provider'}"),
    )


@group.command("payout-account")
@click.argument("affiliate_id", type=click.UUID, metavar="ID")
@click.option("--method", type=click.Choice(list(destinations.FIELDS)), help="How they are paid.")
@click.option("--email", help="The wallet's address, for Wallet.")
@click.option("--account", help="The connected account (acct_...), or the recipient for GlobalPayouts.")
@click.option("--clear", is_flag=True, help="Remove the account that an operator set.")
@output.json_option
def payout_account(
    affiliate_id: UUID, *, method: str | None, email: str | None, account: str | None, clear: bool, as_json: bool
) -> None:
    """Show where an affiliate is paid, or set it. An account that the affiliate chose takes precedence."""
    if clear and (method or email or account):
        raise click.UsageError("--clear takes no other option.")
    chosen = _account_from_options(method, email, account)
    with output.operator_transaction():
        if chosen is None and not clear:
            in_force = choose_account.any_org_find_effective(affiliate_id)
        else:
            in_force = _decide(affiliate_id, chosen)
    document = {
        "affiliateId": str(affiliate_id),
        "method": in_force.account.method if in_force.account else None,
        "destination": destinations.mask(in_force.account.destination) if in_force.account else None,
        "source": in_force.source,
    }
    output.show(document, as_json=as_json, print_text=lambda: click.echo(_describe_account(document)))


def _decide(affiliate_id: UUID, chosen: PayoutAccount | None) -> choose_account.EffectiveAccount:
    decided = choose_account.any_org_set_for_affiliate(affiliate_id=affiliate_id, account=chosen)
    change = {
        "before": decided.before.audit_fields if decided.before else None,
        "after": chosen.audit_fields if chosen else None,
    }
    audit_trail.record(
        "payout_account.changed", change, about=affiliate_id, organization_id=decided.now.organization_id
    )
    return decided.now


def _account_from_options(method: str | None, email: str | None, account: str | None) -> PayoutAccount | None:
    """Return the account that the options name, None without options. Raise UsageError for an incomplete account."""
    if method is None and email is None and account is None:
        return None
    body = {"method": method, "walletEmail": email}
    body["recipientId" if method == Method.GlobalPayouts else "connectedAccountId"] = account
    errors = PayoutAccountBody().validate(body)
    if method is None or errors:
        raise click.UsageError("Give --method Wallet with --email, or another method with its --account.")
    loaded = PayoutAccountBody().load(body)
    return PayoutAccount(loaded["method"], loaded[destinations.FIELDS[loaded["method"]]])


def _describe_account(document: Mapping[str, object]) -> str:
    if document["method"] is None:
        return f"{document['affiliateId']}: no payout account yet. Next: the affiliate sets one, or give --method"
    return f"{document['affiliateId']}: {document['method']} {document['destination']} (set by: {document['source']})"


@group.command("make-test")
@click.argument("program_id", type=click.UUID)
@output.json_option
def make_test(program_id: UUID, as_json: bool) -> None:
    """Create an Approved affiliate for tests; what it earns is never paid."""
    with output.operator_transaction():
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
        document = {"id": str(joined.affiliate.id), "email": joined.affiliate.email, "slug": joined.links[0].slug}
        audit_trail.record("affiliate.created", document, about=joined.affiliate.id, organization_id=organization_id)
    output.show(
        document,
        as_json=as_json,
        print_text=lambda: click.echo(f"{document['id']}  {document['email']}  {document['slug']}"),
    )


def _prepare_form(affiliate_id: UUID, type: str | None, file: Path | None) -> Callable[[], tax_form_files.StoredForm]:
    """Return the function that stores the form. Reads the file, at most one byte more than may be stored."""
    if type is None or file is None:
        return lambda: tax_form_files.any_org_record_at_provider(affiliate_id=affiliate_id, now=clock.now())
    with file.open("rb") as opened:
        content = opened.read(tax_form_files.MAX_BYTES + 1)
    return lambda: tax_form_files.any_org_store(affiliate_id=affiliate_id, type=type, content=content, now=clock.now())
