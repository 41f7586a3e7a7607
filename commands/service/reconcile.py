"""`flask restore reconcile`: compare rails' transfers and brands' charges since a time with the books."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from adapters import clock
from adapters.funding import registry as registry_of_sources
from adapters.rails import base, registry
from commands import audit_trail, output
from commands.service.backup import print_progress
from commands.timestamps import parse_timestamp
from domain.money import currencies
from domain.payouts.transfers import MANUAL, Method
from domain.restores import lists
from domain.restores.charges import ADVICE as ADVICE_ON_CHARGES
from domain.restores.charges import UnknownCharge
from domain.restores.transfers import RailTransfer, TransferOutcome
from models import db
from models.restores import listings
from models.restores.transfers import RestoredTransfer
from pipelines.restores import charges, compare, completeness
from pipelines.restores.completeness import Completeness

#: The clocks of a rail and of the database may differ by this much.
_MARGIN = timedelta(hours=1)
_PROGRESS_EVERY = 500
_METHODS = [*Method, MANUAL]


@dataclass(slots=True)
class Tally:
    """Counts of comparing one method. `failed_because`: its list was not read to the end."""

    method: str
    source: str
    outcomes: dict[str, int] = field(default_factory=dict)
    booked_cents: int = 0
    failed_because: str | None = None

    @property
    def transfers(self) -> int:
        """Return the number of transfers."""
        return sum(self.outcomes.values())

    def count(self, transfer: RailTransfer, outcome: str, *, is_new: bool) -> None:
        """Add a transfer."""
        name = str(outcome)  # JSON needs plain strings as keys
        self.outcomes[name] = self.outcomes.get(name, 0) + 1
        if is_new and outcome == TransferOutcome.Booked:
            self.booked_cents += transfer.amount_cents


@dataclass(frozen=True, slots=True)
class ListingSpan:
    """The time the books were restored to, the earliest possible lost transfer, and the start of rails' lists."""

    restored_to: datetime
    forgotten_since: datetime
    listed_since: datetime


@dataclass(frozen=True, slots=True)
class ChargesSince:
    """Charges for deals that the books lack. `failed_because`: the processor did not list all of them."""

    charges: Sequence[UnknownCharge]
    failed_because: str | None


@click.command("reconcile")
@click.option(
    "--restored-to",
    type=parse_timestamp,
    metavar="MOMENT",
    required=True,
    help="The time that the books were restored to.",
)
@click.option(
    "--list",
    "files",
    multiple=True,
    metavar="METHOD=FILE",
    help="The transfers of a method since, as CSV: docs/payouts.md.",
)
@click.option(
    "--none", "nothing", multiple=True, type=click.Choice(_METHODS), help="A method that made no transfers since."
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would be booked.")
@output.json_option
def reconcile(
    restored_to: datetime, files: Sequence[str], nothing: Sequence[str], dry_run: bool, as_json: bool
) -> None:
    """Compare the transfers since a time with the books, and book those that are missing.

    Each rail is asked for its transfers. A rail without a list needs a file, and so do payments that brands made by
    hand (Manual). May be stopped and repeated: nothing is booked twice.
    """
    check_past(restored_to)
    paths = [_parse_list_option(typed) for typed in files]
    if len(paths) > len(dict(paths)):
        raise click.UsageError("Give one list for a method: join the files.")
    given = {method: _read_list(path, method) for method, path in paths}
    if both := sorted({*given} & {*nothing}):
        raise click.UsageError(f"{both[0]}: give either its list or --none.")
    with output.operator_transaction():
        methods, span = completeness.any_org_list_methods(), _listing_span(restored_to)
    tallies = []
    for method in dict.fromkeys([*methods, *given, *nothing]):
        tally = _compare_method(method, given.get(method), method in nothing, span, is_dry=dry_run)
        if tally is not None:
            tallies.append(tally)
    charges_since = _compare_charges(span)
    with output.operator_transaction():
        cleanness = completeness.any_org_check(restored_to=restored_to)
    result = {
        "restoredTo": restored_to.isoformat(),
        "dryRun": dry_run,
        "methods": [asdict(tally) | {"transfers": tally.transfers} for tally in tallies],
        "charges": [_serialize_charge(charge) for charge in charges_since.charges],
        "chargesFailedBecause": charges_since.failed_because,
        **serialize_cleanness(cleanness),
    }
    output.show(
        result, as_json=as_json, print_text=lambda: _print_result(tallies, charges_since, cleanness, is_dry=dry_run)
    )
    if not dry_run and not cleanness.is_complete:
        raise SystemExit(1)


def serialize_cleanness(cleanness: Completeness) -> Mapping[str, Any]:
    """Return the state of the comparison as JSON."""
    return {
        "clean": cleanness.is_complete,
        "missing": list(cleanness.missing),
        "compared": [asdict(listing) for listing in cleanness.listings],
        "open": [asdict(row) | {"advice": compare.describe_problem(row.problem or "")} for row in cleanness.open],
        "waitingForMilestones": [asdict(row) for row in cleanness.waiting],
    }


def _serialize_charge(charge: UnknownCharge) -> Mapping[str, Any]:
    return {
        "reference": charge.reference,
        "dealId": str(charge.deal_id),
        "amountCents": charge.amount_cents,
        "currency": charge.currency,
        "madeAt": charge.made_at.isoformat(),
        "problem": charge.problem,
        "advice": ADVICE_ON_CHARGES[charge.problem],
    }


def check_past(restored_to: datetime) -> None:
    """Raise UsageError for a time in the future: a list since then would lack earlier transfers."""
    if restored_to > clock.now():
        raise click.UsageError(
            f"{restored_to:%Y-%m-%dT%H:%MZ} is in the future. A time without an offset is UTC: write yours as"
            " 2026-05-04T12:00+02:00."
        )


def print_cleanness(cleanness: Completeness, *, is_held: bool) -> None:
    """Print the transfers that wait for a decision and, while payouts are held, the methods not compared yet."""
    for transfer in cleanness.open:
        click.echo(_describe_transfer(transfer))
        click.echo(f"    {transfer.problem}: {compare.describe_problem(transfer.problem or '')}")
    for transfer in cleanness.waiting:
        click.echo(_describe_transfer(transfer))
        click.echo("    waits for its milestone, which it pays once that is approved; it does not block the release")
    if is_held and cleanness.missing:
        click.echo(
            f"Not compared yet: {', '.join(cleanness.missing)}. Next: flask restore reconcile --restored-to MOMENT"
        )


def _describe_transfer(row: RestoredTransfer) -> str:
    amount = Decimal(row.amount_cents).scaleb(-currencies.exponent(row.currency))
    payee = f" to {row.account}" if row.account else ""
    return f"{row.method} {row.reference}: {amount} {row.currency}{payee}, {row.made_at:%Y-%m-%d %H:%M}"


def _listing_span(restored_to: datetime) -> ListingSpan:
    """Return the span of rails' lists. It starts at the last known transfer if the typed time is later."""
    newest = listings.any_org_find_newest_attempt_at()
    listed_since = min(restored_to, newest) if newest is not None else restored_to
    return ListingSpan(restored_to, restored_to - _MARGIN, listed_since - _MARGIN)


def _compare_charges(span: ListingSpan) -> ChargesSince:
    """Return the charges for deals that the books lack, or why the processor did not list them."""
    source = registry_of_sources.find_source()
    if source is None:
        return ChargesSince([], None)
    unknown_charges = []
    try:
        for charge in source.list_charges(span.listed_since):
            with output.reporting_database_errors(), db.any_org_work():
                if (unknown := charges.any_org_find_unknown(charge)) is not None:
                    unknown_charges.append(unknown)
    except (base.CannotList, base.RailMisconfigured) as error:
        return ChargesSince(unknown_charges, str(error))
    return ChargesSince(unknown_charges, None)


def _compare_method(
    method: str, given: Sequence[RailTransfer] | None, is_none: bool, span: ListingSpan, *, is_dry: bool
) -> Tally | None:
    """Compare one method's transfers; None if neither a rail nor a file lists them."""
    rail = registry.find_rail(Method(method)) if method != MANUAL else None
    source = "declared" if is_none else "file" if given is not None else "rail"
    if source == "rail" and rail is None:
        return None if method == MANUAL else Tally(method, source, failed_because="it is no longer configured")
    tally = Tally(method, source)
    since = span.restored_to
    if not is_dry:
        with output.operator_transaction():
            listing_id = listings.stage_begin(method=method, since=since, source=source)
    try:
        listed = rail.list_since(span.listed_since) if rail is not None and source == "rail" else iter(given or ())
        _compare_all(tally, listed, since=span.forgotten_since, is_dry=is_dry)
    except (base.CannotList, base.RailMisconfigured) as error:
        tally.failed_because = str(error)
        return tally
    if not is_dry:
        with output.operator_transaction():
            listings.stage_finish(listing_id, transfers=tally.transfers)
            result = {"method": method, "since": since.isoformat(), "source": source, "outcomes": tally.outcomes}
            audit_trail.record("restore.reconciled", result, about=method)
    return tally


def _compare_all(tally: Tally, transfers: Iterator[RailTransfer], *, since: datetime, is_dry: bool) -> None:
    """Compare transfers one by one; the next page is requested from the rail between transactions."""
    for transfer in transfers:
        with output.reporting_database_errors(), db.any_org_work():
            if is_dry:
                tally.count(transfer, compare.any_org_preview(transfer, since=since).outcome, is_new=True)
            else:
                compared = compare.any_org_compare(transfer, since=since, now=clock.now())
                tally.count(transfer, compared.outcome, is_new=compared.is_new)
        if tally.transfers % _PROGRESS_EVERY == 0:
            print_progress(f"{tally.method}: {tally.transfers} transfers compared")


def _parse_list_option(typed: str) -> tuple[str, Path]:
    method, equals, path = typed.partition("=")
    if not equals or method not in _METHODS:
        raise click.UsageError(f"{typed!r}: write METHOD=FILE, with one of {', '.join(_METHODS)}.")
    return method, Path(path)


def _read_list(path: Path, method: str) -> list[RailTransfer]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            return lists.parse(text, method=method)
    except (OSError, UnicodeDecodeError, lists.UnreadableList) as error:
        raise click.ClickException(f"{path}: {error}. Nothing was changed.") from error


def _print_result(
    tallies: Sequence[Tally], charges_since: ChargesSince, cleanness: Completeness, *, is_dry: bool
) -> None:
    output.table(
        ("method", "by", "transfers", "known", "marked paid", "booked", "US cents booked", "moved nothing", "waiting",
         "accepted", "open"),
        [
            (tally.method, tally.source, tally.transfers, tally.outcomes.get(TransferOutcome.Known, 0),
             tally.outcomes.get(TransferOutcome.Resumed, 0), tally.outcomes.get(TransferOutcome.Booked, 0),
             tally.booked_cents, tally.outcomes.get(TransferOutcome.MovedNothing, 0),
             tally.outcomes.get(TransferOutcome.Waiting, 0), tally.outcomes.get(TransferOutcome.LeftOut, 0),
             tally.outcomes.get(TransferOutcome.Undecided, 0)) for tally in tallies
        ],
        empty="Nothing was compared.",
    )  # fmt: skip
    for tally in tallies:
        if tally.failed_because:
            method = tally.method
            click.echo(f"{method}: {tally.failed_because}. Next: --list {method}=FILE, or --none {method}")
    for charge in charges_since.charges:
        amount = Decimal(charge.amount_cents).scaleb(-currencies.exponent(charge.currency))
        click.echo(f"charge {charge.reference}: {amount} {charge.currency} for deal {charge.deal_id}")
        click.echo(f"    {charge.problem}: {ADVICE_ON_CHARGES[charge.problem]}")
    if charges_since.failed_because:
        click.echo(f"charges for deals: {charges_since.failed_because}. Next: reconcile again, or check the processor")
    if is_dry:
        click.echo("Nothing was written.")
        return
    print_cleanness(cleanness, is_held=True)
    if cleanness.is_complete:
        click.echo("Clean. Next: flask restore release --restored-to MOMENT --why …")
