"""Applies the events that payout rails send: each once, in any order, and never backwards.

An event only settles earlier what a look-up at the rail would settle too. An event for a settled payout changes
nothing; if it contradicts our records, it is stored for the operator, because the money is not where they say.
Source: tracking spec, section 6 (payout.paid, payout.failed).
"""

from collections.abc import Mapping
from datetime import datetime

import structlog

from adapters.rails import base, registry
from domain.payouts.states import PayoutStatus, RailOutcome
from domain.payouts.transfers import Accepted, Answer, Method, NotFound, Paid, Rejected, Unknown
from domain.refusals import Refused
from models.deals import deals
from models.payouts import attempts, lines, payouts, rail_events
from models.payouts.attempts import AttemptOwner
from models.payouts.payouts import Payout
from pipelines.payouts import transfer

_log = structlog.get_logger(__name__)

#: The rails by their name in the URL that they post to.
METHODS: Mapping[str, Method] = {
    "processor": Method.ProcessorConnect,
    "wallet": Method.Wallet,
    "global-payouts": Method.GlobalPayouts,
}


def parse(rail: str, headers: Mapping[str, str], body: bytes) -> base.RailEvent | None:
    """Return the parsed event, None when it is not about a transfer. May call the rail: not in a transaction.

    Raises Refused: 404 not_found for a rail that is not configured, 400 bad_signature, 503 rail_unavailable when the
    rail has to be called about the event and does not answer; it sends the event again then.
    """
    configured_rail = registry.find_rail(METHODS[rail]) if rail in METHODS else None
    if configured_rail is None:
        raise Refused(404, "not_found", "No such rail is configured.")
    try:
        event = configured_rail.parse_event(headers, body)
    except base.NotSigned as error:
        raise Refused(400, "bad_signature", "The rail's signature is invalid.") from error
    except base.RailMisconfigured as error:
        _log.error("rail.misconfigured", rail=rail, why=str(error))
        raise Refused(503, "rail_unavailable", "The rail refuses this service's credentials.") from error
    if event is not None and isinstance(event.answer, Unknown | NotFound):
        raise Refused(503, "rail_unavailable", "The rail did not report the outcome of the payment.")
    return event


def any_org_apply(rail: str, event: base.RailEvent, *, now: datetime) -> RailOutcome | None:
    """Store an event and apply it; return its outcome, None when it was received before."""
    is_new = rail_events.any_org_insert_once(
        rail=rail,
        event_id=event.id,
        payout_key=event.key,
        answer=type(event.answer).__name__,
        references=event.references,
        detail=event.answer.message if isinstance(event.answer, Rejected) else None,
        at=now,
    )
    if not is_new:
        return None
    owner = attempts.any_org_find_owner(event.key) if event.key else None
    if owner is None or owner.method != METHODS[rail]:
        _log.warning("rail.parked", rail=rail, event_id=event.id, key=event.key)
        return RailOutcome.Parked
    outcome = _settle(owner, event.answer, now)
    rail_events.any_org_stage_outcome(
        rail=rail,
        event_id=event.id,
        organization_id=owner.organization_id,
        payout_id=owner.payout_id,
        outcome=outcome,
    )
    if outcome == RailOutcome.Contradicts:
        _log.error("rail.contradicts", rail=rail, payout=str(owner.payout_id), key=event.key)
    return outcome


def _settle(owner: AttemptOwner, answer: Answer, now: datetime) -> RailOutcome:
    where = {"organization_id": owner.organization_id, "payout_id": owner.payout_id}
    deals.stage_lock_of_payouts(organization_id=owner.organization_id, payout_ids=[owner.payout_id])
    lines.stage_conversions_lock(organization_id=owner.organization_id, payout_ids=[owner.payout_id])
    payout = payouts.lock(**where)
    assert payout is not None  # its attempt names it
    outcome = _outcome(payout, owner, answer)
    if outcome in (RailOutcome.Settled, RailOutcome.Noted):
        transfer.settle(payout, owner.number, answer, now=now)
    return outcome


def _outcome(payout: Payout, owner: AttemptOwner, answer: Answer) -> RailOutcome:
    is_present = payout.attempt == owner.number
    if is_present and payout.status == PayoutStatus.Processing:
        return RailOutcome.Noted if isinstance(answer, Accepted) else RailOutcome.Settled
    is_paid_by_it = is_present and payout.status == PayoutStatus.Paid and payout.method == owner.method
    contradicts = (isinstance(answer, Paid) and not is_paid_by_it) or (isinstance(answer, Rejected) and is_paid_by_it)
    return RailOutcome.Contradicts if contradicts else RailOutcome.Late
