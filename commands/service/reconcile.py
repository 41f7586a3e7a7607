"""`flask restore reconcile`: what rails paid, and brands were charged, since a time, compared with the books."""

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
from commands import output, trail
from commands.moments import moment
from commands.service.backup import progress
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


@dataclass(frozen=True, slots=True)
class ListingSpan:
    """The time that the books were restored to, since when a forgotten transfer can be, and since when rails list."""

    restored_to: datetime
    forgotten_since: datetime
    listed_since: datetime


@dataclass(frozen=True, slots=True)
class ChargesSince:
    """The charges for deals that these books do not have. `failed_because`: the processor did not list them all."""

    found: Sequence[UnknownCharge]
    failed_because: str | None


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
    check_past(restored_to)
    paths = [_typed_list(typed) for typed in files]
    if len(paths) > len(dict(paths)):
        raise click.UsageError("Give one list for a method: put the files together.")
    given = {method: _read(path, method) for method, path in paths}
    if both := sorted({*given} & {*nothing}):
        raise click.UsageError(f"{both[0]}: give either its list or --none.")
    with output.every_tenant():
        methods, span = completeness.any_org_list_methods(), _span(restored_to)
    tallies = []
    for method in dict.fromkeys([*methods, *given, *nothing]):
        tally = _compare_method(method, given.get(method), method in nothing, span, is_dry=dry_run)
        if tally is not None:
            tallies.append(tally)
    charges_since = _compare_charges(span)
    with output.every_tenant():
        cleanness = completeness.any_org_check(restored_to=restored_to)
    result = {
        "restoredTo": restored_to.isoformat(),
        "dryRun": dry_run,
        "methods": [asdict(tally) | {"transfers": tally.transfers} for tally in tallies],
        "charges": [_charge_as_json(one) for one in charges_since.found],
        "chargesFailedBecause": charges_since.failed_because,
        **cleanness_as_json(cleanness),
    }
    output.show(result, as_json=as_json, person=lambda: _print(tallies, charges_since, cleanness, is_dry=dry_run))
    if not dry_run and not cleanness.is_complete:
        raise SystemExit(1)


def cleanness_as_json(cleanness: Completeness) -> Mapping[str, Any]:
    """Return what is compared, for a program."""
    return {
        "clean": cleanness.is_complete,
        "missing": list(cleanness.missing),
        "compared": [asdict(one) for one in cleanness.listings],
        "open": [asdict(one) | {"advice": compare.describe_problem(one.problem or "")} for one in cleanness.open],
        "waitingForMilestones": [asdict(one) for one in cleanness.waiting],
    }


def _charge_as_json(charge: UnknownCharge) -> Mapping[str, Any]:
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
    """Raise UsageError for a time that is not over: a list since then would leave out what was paid before it."""
    if restored_to > clock.now():
        raise click.UsageError(
            f"{restored_to:%Y-%m-%dT%H:%MZ} is not over yet. A time without an offset is UTC: write yours as"
            " 2026-05-04T12:00+02:00."
        )


def print_cleanness(cleanness: Completeness, *, is_held: bool) -> None:
    """Print which transfers wait for a decision and, while payouts are held, what is not compared yet."""
    for one in cleanness.open:
        click.echo(_line_of(one))
        click.echo(f"    {one.problem}: {compare.describe_problem(one.problem or '')}")
    for one in cleanness.waiting:
        click.echo(_line_of(one))
        click.echo("    waits for its milestone, which it pays when that is approved here; it holds nothing")
    if is_held and cleanness.missing:
        click.echo(
            f"Not compared yet: {', '.join(cleanness.missing)}. Next: flask restore reconcile --restored-to MOMENT"
        )


def _line_of(one: RestoredTransfer) -> str:
    amount = Decimal(one.amount_cents).scaleb(-currencies.exponent(one.currency))
    whom = f" to {one.account}" if one.account else ""
    return f"{one.method} {one.reference}: {amount} {one.currency}{whom}, {one.made_at:%Y-%m-%d %H:%M}"


def _span(restored_to: datetime) -> ListingSpan:
    """Return since when rails are asked: also from the last transfer that is known, should the moment be too late."""
    newest = listings.any_org_find_newest_attempt_at()
    listed_since = min(restored_to, newest) if newest is not None else restored_to
    return ListingSpan(restored_to, restored_to - _MARGIN, listed_since - _MARGIN)


def _compare_charges(span: ListingSpan) -> ChargesSince:
    """Return the charges for deals that these books do not have, or why the processor did not list them."""
    source = registry_of_sources.configured()
    if source is None:
        return ChargesSince([], None)
    found = []
    try:
        for charge in source.list_charges(span.listed_since):
            with output.reaching_the_database(), db.any_org_work():
                if (unknown := charges.any_org_find_unknown(charge)) is not None:
                    found.append(unknown)
    except (base.CannotList, base.RailMisconfigured) as error:
        return ChargesSince(found, str(error))
    return ChargesSince(found, None)


def _compare_method(
    method: str, given: Sequence[RailTransfer] | None, is_none: bool, span: ListingSpan, *, is_dry: bool
) -> Tally | None:
    """Compare one method's payments; None where nobody can say what they are."""
    rail = registry.configured(Method(method)) if method != MANUAL else None
    source = "declared" if is_none else "file" if given is not None else "rail"
    if source == "rail" and rail is None:
        return None if method == MANUAL else Tally(method, source, failed_because="it is not set up here any more")
    tally = Tally(method, source)
    since = span.restored_to
    if not is_dry:
        with output.every_tenant():
            listing_id = listings.stage_begin(method=method, since=since, source=source)
    try:
        listed = rail.list_since(span.listed_since) if rail is not None and source == "rail" else iter(given or ())
        _compare_all(tally, listed, since=span.forgotten_since, is_dry=is_dry)
    except (base.CannotList, base.RailMisconfigured) as error:
        tally.failed_because = str(error)
        return tally
    if not is_dry:
        with output.every_tenant():
            listings.stage_finish(listing_id, transfers=tally.transfers)
            result = {"method": method, "since": since.isoformat(), "source": source, "outcomes": tally.outcomes}
            trail.record("restore.reconciled", result, about=method)
    return tally


def _compare_all(tally: Tally, transfers: Iterator[RailTransfer], *, since: datetime, is_dry: bool) -> None:
    """Compare transfers as they come; the rail is asked for the next ones between transactions."""
    for transfer in transfers:
        with output.reaching_the_database(), db.any_org_work():
            if is_dry:
                tally.count(transfer, compare.any_org_preview(transfer, since=since).outcome, is_new=True)
            else:
                compared = compare.any_org_compare(transfer, since=since, now=clock.now())
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
            return lists.parse(text, method=method)
    except (OSError, UnicodeDecodeError, lists.UnreadableList) as error:
        raise click.ClickException(f"{path}: {error}. Nothing was changed.") from error


def _print(tallies: Sequence[Tally], charges_since: ChargesSince, cleanness: Completeness, *, is_dry: bool) -> None:
    output.table(
        ("method", "by", "transfers", "known", "marked paid", "booked", "US cents booked", "moved nothing", "waiting",
         "accepted", "open"),
        [
            (one.method, one.source, one.transfers, one.outcomes.get(TransferOutcome.Known, 0),
             one.outcomes.get(TransferOutcome.Resumed, 0), one.outcomes.get(TransferOutcome.Booked, 0),
             one.booked_cents, one.outcomes.get(TransferOutcome.MovedNothing, 0),
             one.outcomes.get(TransferOutcome.Waiting, 0), one.outcomes.get(TransferOutcome.LeftOut, 0),
             one.outcomes.get(TransferOutcome.Undecided, 0)) for one in tallies
        ],
        empty="Nothing was compared.",
    )  # fmt: skip
    for one in tallies:
        if one.failed_because:
            click.echo(f"{one.method}: {one.failed_because}. Next: --list {one.method}=FILE, or --none {one.method}")
    for charge in charges_since.found:
        amount = Decimal(charge.amount_cents).scaleb(-currencies.exponent(charge.currency))
        click.echo(f"charge {charge.reference}: {amount} {charge.currency} for deal {charge.deal_id}")
        click.echo(f"    {charge.problem}: {ADVICE_ON_CHARGES[charge.problem]}")
    if charges_since.failed_because:
        click.echo(
            f"charges for deals: {charges_since.failed_because}. Next: reconcile again, or look at the processor"
        )
    if is_dry:
        click.echo("Nothing was written.")
        return
    print_cleanness(cleanness, is_held=True)
    if cleanness.is_complete:
        click.echo("Clean. Next: flask restore release --restored-to MOMENT --why …")
