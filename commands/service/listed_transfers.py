"""`flask restore assign`, `accept` and `undo`: what an operator decides about transfers on the lists of rails."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from uuid import UUID

import click

from adapters import clock
from commands import output, trail
from domain.money import currencies
from domain.payouts import native_sums
from domain.payouts.native_sums import NativeSum
from models.restores.transfers import RestoredTransfer
from pipelines.restores import compare, undo

_MAX_CENTS = 2**63 - 1


@click.command("assign")
@click.argument("reference")
@click.option("--affiliate", "affiliate_id", type=click.UUID, required=True, help="Whom it has paid.")
@click.option(
    "--usd-cents", type=click.IntRange(1, _MAX_CENTS), help="What it came to, where its rail says another currency."
)
@click.option(
    "--native",
    "typed",
    multiple=True,
    metavar="CUR=CENTS",
    help="What of it was earned in which currency, minor units. Without: what the rail says, else US dollars.",
)
@click.option("--why", required=True, help="For the audit log.")
@output.json_option
def assign(
    reference: str, *, affiliate_id: UUID, usd_cents: int | None, typed: Sequence[str], why: str, as_json: bool
) -> None:
    """Book a transfer that waits for a decision as paid to an affiliate: their next payouts are smaller by it."""
    with output.every_tenant():
        row = compare.any_org_find_open(reference, is_locked=False)
        if row.currency != "USD" and usd_cents is None:
            raise click.UsageError(f"{reference} is in {row.currency}: say with --usd-cents what it came to.")
        sums = _listed_sums(row, usd_cents) if not typed else None
        sums = sums or _sums(typed, usd_cents or row.amount_cents, row.made_at.date())
        booked = compare.any_org_assign(reference, affiliate_id=affiliate_id, sums=sums, why=why, now=clock.now())
        result = {
            "reference": reference,
            "affiliateId": str(affiliate_id),
            "payoutId": str(booked.booked_payout_id),
            "native": native_sums.to_text(sums),
            "why": why,
        }
        trail.record("restore.assigned", result, about=reference, organization_id=booked.organization_id)
    output.show(result, as_json=as_json, person=lambda: click.echo(f"{reference} is booked as paid to {affiliate_id}."))


@click.command("accept")
@click.argument("reference")
@click.option("--why", required=True, help="For the audit log.")
@output.json_option
def accept(reference: str, why: str, as_json: bool) -> None:
    """Leave a transfer as it is: nothing more is booked for it, and nothing waits for it."""
    with output.every_tenant():
        row = compare.any_org_accept(reference, why=why)
        result = {"reference": reference, "problem": row.problem, "why": why}
        trail.record("restore.accepted", result, about=reference, organization_id=row.organization_id)
    output.show(result, as_json=as_json, person=lambda: click.echo(f"{reference} stays as it is."))


@click.command("undo")
@click.argument("reference")
@click.option("--why", required=True, help="For the audit log, and for the brand.")
@output.json_option
def undo_booking(reference: str, why: str, as_json: bool) -> None:
    """Take back what was booked for a transfer: it came back, or was booked wrongly. What it paid is due again."""
    with output.every_tenant():
        row = undo.any_org_undo(reference, why=why, now=clock.now())
        result = {"reference": reference, "payoutId": str(row.booked_payout_id), "why": why}
        trail.record("restore.undone", result, about=reference, organization_id=row.organization_id)
    output.show(
        result,
        as_json=as_json,
        person=lambda: click.echo(
            f"Nothing is booked for {reference} any more, and what it paid is due again. Next: flask restore status"
        ),
    )


COMMANDS = (assign, accept, undo_booking)


def _listed_sums(row: RestoredTransfer, usd_cents: int | None) -> tuple[NativeSum, ...] | None:
    """Return what the rail says was earned in which currency; None where it says nothing of this amount."""
    return native_sums.from_text(row.native, total_cents=usd_cents or row.amount_cents)


def _sums(typed: Sequence[str], cents: int, on: date) -> tuple[NativeSum, ...]:
    """Return the sums that were typed, valued so that they come to `cents` US cents together."""
    if not typed:
        return native_sums.usd_sums(cents, on=on)
    pairs = [_amount(one) for one in typed]
    amounts = dict(pairs)
    if len(amounts) < len(pairs):
        raise click.UsageError("Name each currency once.")
    if len(amounts) > 1 and {"USD"} - {*amounts}:
        raise click.UsageError("Of several currencies one must be USD: the other has what is left of the amount.")
    usd = amounts.pop("USD", 0)
    if len(amounts) > 1 or usd > cents or (amounts and usd == cents) or (not amounts and usd != cents):
        raise click.UsageError(f"Write at most one currency besides USD; USD alone is {cents}.")
    parts = [*native_sums.usd_sums(usd, on=on)] if usd else []
    for currency, native in amounts.items():
        rate = (Decimal(native).scaleb(-currencies.exponent(currency)) / Decimal(cents - usd).scaleb(-2)).quantize(
            Decimal("1e-12")
        )
        if not 0 < rate < 10**18:
            raise click.UsageError(f"{native} {currency} for {cents - usd} US cents is no rate; look at both amounts.")
        parts.append(NativeSum(currency, native, cents - usd, rate, on))
    return tuple(parts)


def _amount(typed: str) -> tuple[str, int]:
    currency, _, cents = typed.partition("=")
    try:
        if currency.upper() not in currencies.EXPONENTS or not 0 < int(cents) <= _MAX_CENTS:
            raise ValueError
    except ValueError:
        raise click.UsageError(f"{typed!r}: write CUR=CENTS, for example EUR=1840.") from None
    return currency.upper(), int(cents)
