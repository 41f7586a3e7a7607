"""`flask restore reconcile`: what rails paid since a time, compared with the books, and what does not match decided."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from adapters import clock
from adapters.rails import base, registry
from commands import output, trail
from commands.moments import moment
from commands.service.backup import progress
from domain.money import currencies
from domain.payouts import natives
from domain.payouts.natives import NativeSum
from domain.payouts.transfers import BY_HAND, Method
from domain.restores import lists
from domain.restores.transfers import RailTransfer, TransferOutcome
from models import db
from models.restores import listings
from pipelines.restores import clean, compare
from pipelines.restores.clean import Cleanness

#: The clocks of a rail and of the database may differ by this much.
_MARGIN = timedelta(hours=1)
_PROGRESS_EVERY = 500
_METHODS = [*Method, BY_HAND]


@dataclass(slots=True)
class Tally:
    """What comparing one method came to. `failed_because`: its list was not read to the end."""

    method: str
    source: str
    outcomes: dict[str, int] = field(default_factory=dict)
    booked_cents: int = 0
    failed_because: str | None = None

    @property
    def transfers(self) -> int:
        """How many transfers there were."""
        return sum(self.outcomes.values())

    def count(self, transfer: RailTransfer, outcome: str, *, is_new: bool) -> None:
        """Add a transfer."""
        name = str(outcome)  # a plain text, which JSON needs of a key
        self.outcomes[name] = self.outcomes.get(name, 0) + 1
        if is_new and outcome == TransferOutcome.Booked:
            self.booked_cents += transfer.amount_cents


@click.command("reconcile")
@click.option("--restored-to", type=moment, required=True, help="The moment whose books these are.")
@click.option(
    "--list", "files", multiple=True, metavar="METHOD=FILE", help="What a method paid since, as CSV: docs/payouts.md."
)
@click.option(
    "--none", "nothing", multiple=True, type=click.Choice(_METHODS), help="A method by which nothing was paid since."
)
@click.option("--dry-run", is_flag=True, help="Write nothing, and show what would be done.")
@output.json_option
def reconcile(
    restored_to: datetime, files: Sequence[str], nothing: Sequence[str], dry_run: bool, as_json: bool
) -> None:
    """Compare what was paid since a moment with the books, and book what they have forgotten.

    Each rail is asked for its transfers. One that has no list needs it as a file, and so does what brands paid by hand
    (Manual). May be stopped and repeated: nothing is booked twice.
    """
    given = {method: _read(path, method) for method, path in map(_typed_list, files)}
    if both := sorted({*given} & {*nothing}):
        raise click.UsageError(f"{both[0]}: give either its list or --none.")
    with output.every_tenant():
        methods = clean.any_org_methods()
    tallies = []
    for method in dict.fromkeys([*methods, *given, *nothing]):
        tally = _compare_method(method, given.get(method), method in nothing, restored_to, is_dry=dry_run)
        if tally is not None:
            tallies.append(tally)
    with output.every_tenant():
        cleanness = clean.any_org_cleanness(restored_to=restored_to)
    result = {
        "restoredTo": restored_to.isoformat(),
        "dryRun": dry_run,
        "methods": [asdict(tally) | {"transfers": tally.transfers} for tally in tallies],
        **cleanness_as_json(cleanness),
    }
    output.show(result, as_json=as_json, person=lambda: _print(tallies, cleanness, is_dry=dry_run))
    if not dry_run and not cleanness.is_clean:
        raise SystemExit(1)


@click.command("assign")
@click.argument("reference")
@click.option("--affiliate", "affiliate_id", type=click.UUID, required=True, help="Whom it has paid.")
@click.option("--usd-cents", type=click.IntRange(1), help="What it came to, where its rail says another currency.")
@click.option(
    "--native",
    "typed",
    multiple=True,
    metavar="CUR=CENTS",
    help="What of it was earned in which currency, minor units.",
)
@click.option("--why", required=True, help="For the audit log.")
@output.json_option
def assign(
    reference: str, *, affiliate_id: UUID, usd_cents: int | None, typed: Sequence[str], why: str, as_json: bool
) -> None:
    """Book a transfer that waits for a decision as paid to an affiliate: their next payouts are smaller by it."""
    with output.every_tenant():
        row = compare.any_org_open_row(reference)
        if row.currency != "USD" and usd_cents is None:
            raise click.UsageError(f"{reference} is in {row.currency}: say with --usd-cents what it came to.")
        sums = _sums(typed, usd_cents or row.amount_cents, row.made_at.date())
        booked = compare.any_org_assign(reference, affiliate_id=affiliate_id, sums=sums, why=why, now=clock.now())
        result = {
            "reference": reference,
            "affiliateId": str(affiliate_id),
            "payoutId": str(booked.booked_payout_id),
            "native": natives.to_text(sums),
            "why": why,
        }
        trail.record("restore.assigned", result, about=reference, organization_id=booked.organization_id)
    output.show(result, as_json=as_json, person=lambda: click.echo(f"{reference} is booked as paid to {affiliate_id}."))


@click.command("accept")
@click.argument("reference")
@click.option("--why", required=True, help="For the audit log.")
@output.json_option
def accept(reference: str, why: str, as_json: bool) -> None:
    """Leave a transfer that waits for a decision as it is: nothing is booked for it, and nothing waits for it."""
    with output.every_tenant():
        row = compare.any_org_accept(reference, why=why)
        result = {"reference": reference, "problem": row.problem, "why": why}
        trail.record("restore.accepted", result, about=reference, organization_id=row.organization_id)
    output.show(result, as_json=as_json, person=lambda: click.echo(f"{reference} stays as it is."))


COMMANDS = (reconcile, assign, accept)


def cleanness_as_json(cleanness: Cleanness) -> Mapping[str, Any]:
    """Return what is compared, for a program."""
    return {
        "clean": cleanness.is_clean,
        "missing": list(cleanness.missing),
        "compared": [asdict(one) for one in cleanness.listings],
        "open": [asdict(one) | {"advice": compare.advice(one.problem or "")} for one in cleanness.open],
    }


def print_cleanness(cleanness: Cleanness, *, is_held: bool) -> None:
    """Print which transfers wait for a decision and, while payouts are held, what is not compared yet."""
    for one in cleanness.open:
        amount = Decimal(one.amount_cents).scaleb(-currencies.exponent(one.currency))
        whom = f" to {one.account}" if one.account else ""
        click.echo(f"{one.method} {one.reference}: {amount} {one.currency}{whom}, {one.made_at:%Y-%m-%d %H:%M}")
        click.echo(f"    {one.problem}: {compare.advice(one.problem or '')}")
    if is_held and cleanness.missing:
        click.echo(
            f"Not compared yet: {', '.join(cleanness.missing)}. Next: flask restore reconcile --restored-to MOMENT"
        )


def _compare_method(
    method: str, given: Sequence[RailTransfer] | None, is_none: bool, restored_to: datetime, *, is_dry: bool
) -> Tally | None:
    """Compare one method's payments; None where nobody can say what they are."""
    rail = registry.configured(Method(method)) if method != BY_HAND else None
    source = "declared" if is_none else "file" if given is not None else "rail"
    if source == "rail" and rail is None:
        return None if method == BY_HAND else Tally(method, source, failed_because="it is not set up here any more")
    tally = Tally(method, source)
    try:
        if source == "rail":
            assert rail is not None
            _compare_all(tally, rail.list_since(restored_to - _MARGIN), is_dry=is_dry)
        else:
            _compare_all(tally, iter(given or ()), is_dry=is_dry)
    except (base.CannotList, base.RailMisconfigured) as error:
        tally.failed_because = str(error)
        return tally
    if not is_dry:
        with output.every_tenant():
            listings.stage(method=method, since=restored_to, source=source, transfers=tally.transfers)
            said = {"method": method, "since": restored_to.isoformat(), "source": source, "outcomes": tally.outcomes}
            trail.record("restore.reconciled", said, about=method)
    return tally


def _compare_all(tally: Tally, transfers: Iterator[RailTransfer], *, is_dry: bool) -> None:
    """Compare transfers as they come; the rail is asked for the next ones between transactions."""
    for transfer in transfers:
        with output.reaching_the_database(), db.any_org_work():
            if is_dry:
                tally.count(transfer, compare.any_org_preview(transfer).outcome, is_new=True)
            else:
                compared = compare.any_org_compare(transfer, now=clock.now())
                tally.count(transfer, compared.outcome, is_new=compared.is_new)
        if tally.transfers % _PROGRESS_EVERY == 0:
            progress(f"{tally.method}: {tally.transfers} transfers compared")


def _typed_list(typed: str) -> tuple[str, Path]:
    method, equals, path = typed.partition("=")
    if not equals or method not in _METHODS:
        raise click.UsageError(f"{typed!r}: write METHOD=FILE, with one of {', '.join(_METHODS)}.")
    return method, Path(path)


def _read(path: Path, method: str) -> list[RailTransfer]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            return lists.read(text, method=method)
    except (OSError, UnicodeDecodeError, lists.UnreadableList) as error:
        raise click.ClickException(f"{path}: {error}. Nothing was changed.") from error


def _sums(typed: Sequence[str], cents: int, on: date) -> tuple[NativeSum, ...]:
    """Return the sums that were typed, valued so that they come to `cents` US cents together."""
    if not typed:
        return natives.in_usd(cents, on=on)
    amounts = dict(map(_amount, typed))
    if len(amounts) > 1 and {"USD"} - {*amounts}:
        raise click.UsageError("Of several currencies one must be USD: the other has what is left of the amount.")
    usd = amounts.pop("USD", 0)
    if len(amounts) > 1 or usd > cents or (amounts and usd == cents) or (not amounts and usd != cents):
        raise click.UsageError(f"Write at most one currency besides USD; USD alone is {cents}.")
    parts = [*natives.in_usd(usd, on=on)] if usd else []
    for currency, native in amounts.items():
        rate = (Decimal(native).scaleb(-currencies.exponent(currency)) / Decimal(cents - usd).scaleb(-2)).quantize(
            Decimal("1e-12")
        )
        parts.append(NativeSum(currency, native, cents - usd, rate, on))
    return tuple(parts)


def _amount(typed: str) -> tuple[str, int]:
    currency, _, cents = typed.partition("=")
    try:
        if currency.upper() not in currencies.EXPONENTS or int(cents) <= 0:
            raise ValueError
    except (ValueError, InvalidOperation):
        raise click.UsageError(f"{typed!r}: write CUR=CENTS, for example EUR=1840.") from None
    return currency.upper(), int(cents)


def _print(tallies: Sequence[Tally], cleanness: Cleanness, *, is_dry: bool) -> None:
    output.table(
        ("method", "by", "transfers", "known", "marked paid", "booked", "US cents booked", "moved nothing", "open"),
        [
            (one.method, one.source, one.transfers, one.outcomes.get(TransferOutcome.Known, 0),
             one.outcomes.get(TransferOutcome.Resumed, 0), one.outcomes.get(TransferOutcome.Booked, 0),
             one.booked_cents, one.outcomes.get(TransferOutcome.MovedNothing, 0),
             one.outcomes.get(TransferOutcome.Undecided, 0)) for one in tallies
        ],
        empty="Nothing was compared.",
    )  # fmt: skip
    for one in tallies:
        if one.failed_because:
            click.echo(f"{one.method}: {one.failed_because}. Next: --list {one.method}=FILE, or --none {one.method}")
    if is_dry:
        click.echo("Nothing was written.")
        return
    print_cleanness(cleanness, is_held=True)
    if cleanness.is_clean:
        click.echo("Clean. Next: flask restore release --restored-to MOMENT --why …")
