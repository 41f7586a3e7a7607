"""`flask restore assign`, `accept` and `undo`: the operator's decisions about transfers that rails list."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from uuid import UUID

import click

from adapters import clock
from commands import audit_trail, output
from domain.money import currencies
from domain.payouts import native_sums
from domain.payouts.native_sums import NativeSum
from models.restores.transfers import RestoredTransfer
from pipelines.restores import compare, undo

_MAX_CENTS = 2**63 - 1


@click.command("assign")
@click.argument("reference")
@click.option("--affiliate", "affiliate_id", type=click.UUID, required=True, help="The affiliate it has paid.")
@click.option("--usd-cents", type=click.IntRange(1, _MAX_CENTS), help="Its value, if its rail states another currency.")
@click.option(
    "--native",
    "typed",
    multiple=True,
    metavar="CUR=CENTS",
    help="The amount earned in a currency, in minor units. Without: as the rail states, else US dollars.",
)
@click.option("--why", required=True, help="For the audit log.")
@output.json_option
def assign(
    reference: str, *, affiliate_id: UUID, usd_cents: int | None, typed: Sequence[str], why: str, as_json: bool
) -> None:
    """Book an undecided transfer as paid to an affiliate: their next payouts are reduced by it."""
    with output.operator_transaction():
        row = compare.any_org_find_open(reference, is_locked=False)
        if row.currency != "USD" and usd_cents is None:
            raise click.UsageError(f"{reference} is in {row.currency}: give its value with --usd-cents.")
        sums = _listed_sums(row, usd_cents) if not typed else None
        sums = sums or _parse_sums(typed, usd_cents or row.amount_cents, row.made_at.date())
        booked = compare.any_org_assign(reference, affiliate_id=affiliate_id, sums=sums, why=why, now=clock.now())
        result = {
            "reference": reference,
            "affiliateId": str(affiliate_id),
            "payoutId": str(booked.booked_payout_id),
            "native": native_sums.to_text(sums),
            "why": why,
        }
        audit_trail.record("restore.assigned", result, about=reference, organization_id=booked.organization_id)
    output.show(
        result, as_json=as_json, print_text=lambda: click.echo(f"{reference} is booked as paid to {affiliate_id}.")
    )


@click.command("accept")
@click.argument("reference")
@click.option("--why", required=True, help="For the audit log.")
@output.json_option
def accept(reference: str, why: str, as_json: bool) -> None:
    """Accept a transfer as it is: nothing more is booked for it, and it no longer blocks the release of payouts."""
    with output.operator_transaction():
        row = compare.any_org_accept(reference, why=why)
        result = {"reference": reference, "problem": row.problem, "why": why}
        audit_trail.record("restore.accepted", result, about=reference, organization_id=row.organization_id)
    output.show(result, as_json=as_json, print_text=lambda: click.echo(f"{reference} is accepted as it is."))


@click.command("undo")
@click.argument("reference")
@click.option("--why", required=True, help="For the audit log, and for the brand.")
@output.json_option
def undo_booking(reference: str, why: str, as_json: bool) -> None:
    """Reverse the booking of a transfer that was returned or booked by mistake. The amounts it paid are due again."""
    with output.operator_transaction():
        row = undo.any_org_undo(reference, why=why, now=clock.now())
        result = {"reference": reference, "payoutId": str(row.booked_payout_id), "why": why}
        audit_trail.record("restore.undone", result, about=reference, organization_id=row.organization_id)
    output.show(
        result,
        as_json=as_json,
        print_text=lambda: click.echo(
            f"The booking of {reference} is reversed; the amounts it paid are due again. Next: flask restore status"
        ),
    )


COMMANDS = (assign, accept, undo_booking)


def _listed_sums(row: RestoredTransfer, usd_cents: int | None) -> tuple[NativeSum, ...] | None:
    """Return the sums per currency that the rail states; None if it states none of this amount."""
    return native_sums.from_text(row.native, total_cents=usd_cents or row.amount_cents)


def _parse_sums(typed: Sequence[str], cents: int, on: date) -> tuple[NativeSum, ...]:
    """Return the typed sums, with rates by which they total `cents` US cents."""
    if not typed:
        return native_sums.usd_sums(cents, on=on)
    pairs = [_parse_amount(text) for text in typed]
    amounts = dict(pairs)
    if len(amounts) < len(pairs):
        raise click.UsageError("Name each currency once.")
    if len(amounts) > 1 and {"USD"} - {*amounts}:
        raise click.UsageError(
            "If there are several currencies, one must be USD: the other has the rest of the amount."
        )
    usd = amounts.pop("USD", 0)
    if len(amounts) > 1 or usd > cents or (amounts and usd == cents) or (not amounts and usd != cents):
        raise click.UsageError(f"Write at most one currency besides USD; USD alone is {cents}.")
    parts = [*native_sums.usd_sums(usd, on=on)] if usd else []
    for currency, native in amounts.items():
        rate = (Decimal(native).scaleb(-currencies.exponent(currency)) / Decimal(cents - usd).scaleb(-2)).quantize(
            Decimal("1e-12")
        )
        if not 0 < rate < 10**18:
            raise click.UsageError(
                f"{native} {currency} for {cents - usd} US cents is not a valid rate; check both amounts."
            )
        parts.append(NativeSum(currency, native, cents - usd, rate, on))
    return tuple(parts)


def _parse_amount(typed: str) -> tuple[str, int]:
    currency, _, cents = typed.partition("=")
    try:
        if currency.upper() not in currencies.EXPONENTS or not 0 < int(cents) <= _MAX_CENTS:
            raise ValueError
    except ValueError:
        raise click.UsageError(f"{typed!r}: write CUR=CENTS, for example EUR=1840.") from None
    return currency.upper(), int(cents)
