"""What holds of a host name, and what a look at DNS changes.

A look is prepared (tx), made (no tx) and noted (tx). What was seen of a name never counts for another one that its
holder has been given meanwhile, and of two holders of one name the first to prove it has it.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

import settings
from adapters import name_servers
from domain.host_proofs import records, standing
from domain.host_proofs.records import DnsReading, LookOutcome, ProofKind, Sighting, WantedProof
from domain.host_proofs.standing import ProofRecord
from domain.refused import Refused, not_found
from models import advisory_locks
from models.host_proofs import holders, looks
from models.host_proofs.holders import HostHolder
from pipelines.host_proofs import letters
from pipelines.host_proofs.held import HeldHost, NotedLook


def show(*, organization_id: UUID, program_id: UUID | None) -> HeldHost:
    """Return what holds of a program's custom domain, or (without one) of the tracking domain.

    Raises Refused 404 not_found. Budget: 1 statement.
    """
    seen = looks.show(organization_id=organization_id, program_id=program_id)
    if seen is None:
        raise not_found("program" if program_id else "organization", program_id)
    return HeldHost(seen.holder, _wanted(seen.holder), seen.record)


def prepare(*, organization_id: UUID, program_id: UUID | None) -> HeldHost:
    """Return what is to be looked at. Raises Refused: 404 not_found; 409 no_custom_domain, no_tracking_domain,
    invalid_status_transition for an archived program.
    """
    held = show(organization_id=organization_id, program_id=program_id)
    if held.holder.is_over:
        raise Refused(409, "invalid_status_transition", "This program is archived: it can be read and not changed.")
    if held.wanted is None and program_id is not None:
        raise Refused(409, "no_custom_domain", "This program has no custom domain; set customDomain first.")
    if held.wanted is None:
        raise Refused(409, "no_tracking_domain", "The organization has no tracking domain; set trackingDomain first.")
    return held


def look(held: HeldHost) -> DnsReading:
    """Ask DNS while a person waits. Takes three seconds at most, never inside a transaction.

    Raises Refused 503 domain_check_busy while others are asked for.
    """
    assert held.wanted is not None  # `prepare` refuses a holder without a name
    try:
        with name_servers.reading_slot():
            return name_servers.read(held.wanted, limit_s=name_servers.REQUEST_LIMIT_S)
    except name_servers.TooManyReadings as error:
        message = "Other domains are being checked. Try again in a moment."
        raise Refused(503, "domain_check_busy", message) from error


def note(prepared: HeldHost, reading: DnsReading, *, now: datetime, is_asked: bool) -> NotedLook:
    """Write down what was read of a name, and return what holds now; `is_asked` when a person asked for the look.

    Owners are written to when a proof is lost.
    Raises Refused 409: domain_changed when its holder has another name by now; where somebody asked
    custom_domain_already_taken, tracking_domain_already_taken for a name that is proved and somebody else has.
    """
    asked, wanted = prepared.holder, prepared.wanted
    assert wanted is not None  # `prepare` refuses a holder without a name
    advisory_locks.stage_domain_lock(wanted.name)
    holder = holders.lock(organization_id=asked.organization_id, program_id=asked.program_id)
    if holder is None or holder.name != wanted.name or holder.is_over:
        raise Refused(409, "domain_changed", "The domain was changed while it was checked. Check it again.")
    sighting = records.judge(reading, wanted)
    if sighting.outcome == LookOutcome.Proved and not holder.is_verified:
        if sighting.proved_by == ProofKind.Txt and records.leads_elsewhere(reading, wanted):
            holders.stage_free_name(holder)
        if holders.is_held_elsewhere(holder):
            if is_asked:
                raise taken(holder)
            sighting = replace(sighting, outcome=LookOutcome.Taken)
    return _written(holder, sighting, now=now, is_asked=is_asked)


def taken(holder: HostHolder) -> Refused:
    """Return the refusal for a name that belongs to another holder. It never says to whom."""
    code = "tracking_domain_already_taken" if holder.program_id is None else "custom_domain_already_taken"
    message = (
        f"{holder.name} belongs to another campaign or organization, or did in the last 90 days. If it is yours now,"
        " remove its CNAME and address records that lead here, add your TXT record, and check again; then lead it here."
    )
    return Refused(409, code, message)


def _written(holder: HostHolder, sighting: Sighting, *, now: datetime, is_asked: bool) -> NotedLook:
    before = looks.find(holder) or ProofRecord(waiting_since=now)
    if is_asked and not holder.is_verified:
        before = replace(before, waiting_since=now)  # who asks is at work on it, so it is looked at often from now on
    after = standing.after_look(before, sighting, is_verified=holder.is_verified, now=now)
    looks.stage_put(holder, after)
    is_vouched_for = holder.is_verified and before.proved_by is None
    is_verified = is_vouched_for or after.proved_by is not None
    if is_verified != holder.is_verified:
        holders.stage_verified(holder, is_verified=is_verified, at=now)
    noted = NotedLook(
        HeldHost(replace(holder, is_verified=is_verified), _wanted(holder), after), was_verified=holder.is_verified
    )
    if noted.is_lost:
        letters.write_lost(noted.held, now=now)
    return noted


def _wanted(holder: HostHolder) -> WantedProof | None:
    if holder.name is None:
        return None
    text = records.text_for(organization_id=holder.organization_id, holder_id=holder.holder_id, name=holder.name)
    return WantedProof(holder.name, settings.current().web.brands_target, text)
