"""Turns: each lets one transaction at a time decide something, until it ends. They are the
advisory locks of the service, besides that of a migration at work (`models/migrate.py`).

A transaction that takes several takes them in the order in which they stand here: behind its job, before it locks any
row of what is decided (a ban alone comes with its affiliate locked, whom a run only refers to). `stage_` turns are
waited for with the next statement, whose snapshot is newer than they are; `take_` and `try_` ask at once.
"""

from collections.abc import Sequence
from uuid import UUID

from models.db import db
from models.hot import Hot

_TAKE = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"
_TAKE_HOT = Hot(_TAKE)
_SHARE = "select pg_advisory_xact_lock_shared(hashtextextended(%s, 0))"
_TRY_SHARE = "select pg_try_advisory_xact_lock_shared(hashtextextended(%s, 0))"
_TRY = "select pg_try_advisory_xact_lock(hashtextextended(%s, 0))"

# A million conversions are claimed in one transaction, which a person waits for.
_OF_A_RUN = "10min"


def any_org_stage_hand_out() -> None:
    """Let one relay at a time count who has room: two at once would each fill the same room.

    A relay that freezes in the middle of it loses it after five seconds, sooner than the others give up waiting.
    """
    db.stage("set local idle_in_transaction_session_timeout = '5s'")
    db.stage(_TAKE, ("hand-out",))


def any_org_stage_days() -> None:
    """Let one transaction at a time write the kept days of programs and affiliates, or count them anew."""
    db.stage(_TAKE, ("days",))


def stage_reckoning(organization_id: UUID) -> None:
    """Let one transaction at a time reckon what the organization's days owe, and nobody fold changes meanwhile."""
    db.stage(_SHARE, ("days",))
    db.stage(_TAKE, (f"reckoning:{organization_id}",))


def any_org_stage_reseal() -> None:
    """Let one transaction at a time seal values anew: each leaves rows out that the other has locked."""
    db.stage(_TAKE, ("reseal",))


def try_import(organization_id: UUID) -> bool:
    """Take the organization's one turn to import; False while another has it."""
    return db.row(_TRY, (f"import:{organization_id}",)) == (True,)


def stage_clicks(organization_id: UUID, *, wait_ms: int | None = None) -> None:
    """Let nobody else write or judge clicks of the organization: what follows sees every click written before.

    `wait_ms` is how long this transaction waits for a lock before it gives up (None: as long as every other).
    """
    if wait_ms is not None:
        db.stage("set local lock_timeout = %s", (wait_ms,))
    db.stage(_TAKE_HOT, (f"clicks:{organization_id}",))


def stage_connections(organization_id: UUID) -> None:
    """Let only one transaction at a time connect and disconnect gateways of an organization."""
    db.stage(_TAKE, (f"connections:{organization_id}",))


# One after the other in the order of their numbers, so that two that share several names never wait for each other.
_TAKE_ALL = Hot("""
select pg_advisory_xact_lock(turn.number)
from (select distinct hashtextextended(name, 0) as number from unnest(%s::text[]) name order by 1) turn
""")


def stage_told(*, organization_id: UUID, gateway: str, names: Sequence[str]) -> None:
    """Let only one transaction at a time book what a gateway tells of these names (payments, refunds, customers).

    A transaction takes all of its own at once.
    """
    db.stage(_TAKE_ALL, ([f"{organization_id}:{gateway}:{name}" for name in names],))


def take_run(organization_id: UUID) -> None:
    """Let one payout run of an organization at a time decide, and let nobody take money back meanwhile."""
    db.stage("set local statement_timeout = %s", (_OF_A_RUN,))
    db.stage("set local lock_timeout = %s", (_OF_A_RUN,))
    db.run(_TAKE, (_run(organization_id),))


def stage_no_run(organization_id: UUID) -> None:
    """Wait for a payout run at work and let none begin; many transactions may have this turn at once.

    Taken before a conversion is locked to take money back from it, so that what a run claimed is seen afterwards.
    """
    db.stage(_SHARE, (_run(organization_id),))


def try_no_run(organization_id: UUID) -> bool:
    """Take the same turn without waiting; False while a payout run is at work, or waits to be.

    For who has locked a conversion by then: a run that is about to refer to it would wait for them in turn.
    """
    return db.row(_TRY_SHARE, (_run(organization_id),)) == (True,)


def stage_payout_decision(organization_id: UUID) -> None:
    """Let one decision about the organization's payouts at a time be made, so that a cap counts them one by one.

    Not the organization's row: who changes that goes on to its conversions, which a decision has locked by then.
    """
    db.stage(_TAKE, (f"payout-decision:{organization_id}",))


def stage_keys(organization_id: UUID) -> None:
    """Let one transaction at a time add keys to the organization."""
    db.stage(_TAKE, (f"api keys:{organization_id}",))


def stage_endpoints(organization_id: UUID) -> None:
    """Let one transaction at a time decide which webhook endpoints the organization has, and their URLs."""
    db.stage(_TAKE, (f"endpoints:{organization_id}",))


def stage_assets(organization_id: UUID) -> None:
    """Let one transaction at a time add to what the organization gives its affiliates to advertise with."""
    db.stage(_TAKE, (f"assets:{organization_id}",))


def stage_landing_pictures(organization_id: UUID) -> None:
    """Let one transaction at a time decide which pictures the organization's landing pages name, and which end."""
    db.stage(_TAKE, (f"landing pictures:{organization_id}",))


def stage_primary_program(organization_id: UUID) -> None:
    """Let one transaction at a time decide which program of the organization is the primary one.

    It comes before any lock on a program: two that each hold one and want the other's would wait for ever.
    """
    db.stage(_TAKE, (f"primary program:{organization_id}",))


def stage_domain(domain: str) -> None:
    """Let one transaction at a time decide who answers for a domain."""
    db.stage(_TAKE, (f"domain:{domain}",))


def stage_invites(organization_id: UUID) -> None:
    """Let one transaction at a time add to the organization's pending invites."""
    db.stage(_TAKE, (f"invites:{organization_id}",))


def stage_capacity(organization_id: UUID) -> None:
    """Let one transaction at a time decide whether the organization has room for one more affiliate."""
    db.stage(_TAKE, (f"capacity:{organization_id}",))


def stage_everybody(organization_id: UUID) -> None:
    """Wait for every decision about a person or a slug of the organization, and hold off others.

    An import decides about a thousand of them; as many locks would not fit the server's table.
    """
    db.stage(_TAKE, (_everybody(organization_id),))


def stage_person(*, organization_id: UUID, email: str) -> None:
    """Let one transaction at a time decide about this person in the organization."""
    db.stage(_SHARE, (_everybody(organization_id),))
    db.stage(_TAKE, (f"person:{organization_id}:{email}",))


def take_slug(*, organization_id: UUID, slug: str) -> None:
    """Let one transaction at a time decide who gets this slug in the organization."""
    db.stage(_SHARE, (_everybody(organization_id),))
    db.run(_TAKE, (f"slug:{organization_id}:{slug}",))


def stage_invited_slug(slug: str) -> None:
    """Let one transaction at a time give an invited person this slug, in any organization."""
    db.stage(_TAKE, (f"invited slug:{slug}",))


def stage_rewards(program_id: UUID) -> None:
    """Let one transaction at a time pay clicks and leads out of a program's budget; of several in the order of ids."""
    db.stage(_TAKE_HOT, (f"rewards:{program_id}",))


def _run(organization_id: UUID) -> str:
    return f"payout-run:{organization_id}"


def _everybody(organization_id: UUID) -> str:
    return f"people:{organization_id}"
