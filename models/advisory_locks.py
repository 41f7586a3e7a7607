"""The advisory locks of the service, but for the one of a running migration (`models/migrate.py`).

Each is held by one transaction at a time, until it ends; a shared one by any number of transactions that only keep the
exclusive holder out. A transaction that takes several takes them in the order of this file: after its job, and before
it locks any row that the decision is about. (A ban alone comes with its affiliate locked, which a payout run only
refers to.) `stage_…` waits for the lock with the next statement, whose snapshot is therefore newer than the lock;
`take_…` and `try_…` cost a round trip.
"""

from collections.abc import Sequence
from uuid import UUID

from models.db import db
from models.prepared_statements import PreparedStatement

_LOCK = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"
_LOCK_PREPARED = PreparedStatement(_LOCK)
_LOCK_SHARED = "select pg_advisory_xact_lock_shared(hashtextextended(%s, 0))"
_TRY_LOCK_SHARED = "select pg_try_advisory_xact_lock_shared(hashtextextended(%s, 0))"
_TRY_LOCK = "select pg_try_advisory_xact_lock(hashtextextended(%s, 0))"

# A million conversions are claimed in one transaction, which a person waits for.
_PAYOUT_RUN_TIMEOUT = "10min"


def any_org_stage_dispatch_lock() -> None:
    """Stage the lock of dispatching jobs: two relays that count free threads at once would each fill the same ones.

    A relay that freezes while it holds the lock loses it after five seconds, sooner than the others stop waiting.
    """
    db.stage("set local idle_in_transaction_session_timeout = '5s'")
    db.stage(_LOCK, ("hand-out",))


def any_org_stage_daily_totals_lock() -> None:
    """Stage the lock of writing or recounting the stored daily totals of programs and affiliates."""
    db.stage(_LOCK, ("days",))


def stage_owed_totals_lock(organization_id: UUID) -> None:
    """Stage the lock of recomputing an organization's daily owed totals; it also keeps changes from being folded in."""
    db.stage(_LOCK_SHARED, ("days",))
    db.stage(_LOCK, (f"reckoning:{organization_id}",))


def any_org_stage_reseal_lock() -> None:
    """Stage the lock of resealing values: two transactions at once would skip the rows that the other has locked."""
    db.stage(_LOCK, ("reseal",))


def try_import_lock(organization_id: UUID) -> bool:
    """Take the lock of the organization's one import without waiting; return False if another import holds it."""
    return db.row(_TRY_LOCK, (f"import:{organization_id}",)) == (True,)


def stage_clicks_lock(organization_id: UUID, *, wait_ms: int | None = None) -> None:
    """Stage the lock of writing and judging the organization's clicks: the next statement sees all written before.

    `wait_ms` limits how long this transaction waits for any lock (None: as long as every other transaction).
    """
    if wait_ms is not None:
        db.stage("set local lock_timeout = %s", (wait_ms,))
    db.stage(_LOCK_PREPARED, (f"clicks:{organization_id}",))


def stage_gateway_connections_lock(organization_id: UUID) -> None:
    """Stage the lock of connecting and disconnecting the organization's gateways."""
    db.stage(_LOCK, (f"connections:{organization_id}",))


# In the order of their numbers, so that two transactions that share several names never deadlock.
_LOCK_ALL = PreparedStatement("""
select pg_advisory_xact_lock(turn.number)
from (select distinct hashtextextended(name, 0) as number from unnest(%s::text[]) name order by 1) turn
""")


def stage_gateway_names_lock(*, organization_id: UUID, gateway: str, names: Sequence[str]) -> None:
    """Stage the locks of booking what a gateway reports of these names (payments, refunds, customers).

    A transaction takes all of its names in one call.
    """
    db.stage(_LOCK_ALL, ([f"{organization_id}:{gateway}:{name}" for name in names],))


def take_payout_run_lock(organization_id: UUID) -> None:
    """Take the lock for deciding a payout run; it also blocks reversals of commission meanwhile."""
    db.stage("set local statement_timeout = %s", (_PAYOUT_RUN_TIMEOUT,))
    db.stage("set local lock_timeout = %s", (_PAYOUT_RUN_TIMEOUT,))
    db.run(_LOCK, (_payout_run(organization_id),))


def stage_shared_payout_run_lock(organization_id: UUID) -> None:
    """Stage the shared side of the payout run's lock: wait for a run in progress and keep the next from starting.

    It comes before the lock of a conversion that money is taken back from, so that what a run claimed is visible then.
    """
    db.stage(_LOCK_SHARED, (_payout_run(organization_id),))


def try_shared_payout_run_lock(organization_id: UUID) -> bool:
    """Take the shared side without waiting; return False while a payout run holds the lock or waits for it.

    For a transaction that has locked a conversion already: a run about to refer to that row would deadlock with it.
    """
    return db.row(_TRY_LOCK_SHARED, (_payout_run(organization_id),)) == (True,)


def stage_payout_decision_lock(organization_id: UUID) -> None:
    """Stage the lock of deciding about the organization's payouts, so that a cap counts the decisions one by one.

    The organization's row cannot serve: a transaction that changes it goes on to conversions, which a decision has
    locked by then.
    """
    db.stage(_LOCK, (f"payout-decision:{organization_id}",))


def stage_api_keys_lock(organization_id: UUID) -> None:
    """Stage the lock of adding API keys to the organization."""
    db.stage(_LOCK, (f"api keys:{organization_id}",))


def stage_endpoints_lock(organization_id: UUID) -> None:
    """Stage the lock of adding, changing and deleting the organization's webhook endpoints."""
    db.stage(_LOCK, (f"endpoints:{organization_id}",))


def stage_assets_lock(organization_id: UUID) -> None:
    """Stage the lock of adding to the organization's assets for affiliates."""
    db.stage(_LOCK, (f"assets:{organization_id}",))


def stage_landing_pictures_lock(organization_id: UUID) -> None:
    """Stage the lock of choosing and deleting the pictures of the organization's landing pages."""
    db.stage(_LOCK, (f"landing pictures:{organization_id}",))


def stage_primary_program_lock(organization_id: UUID) -> None:
    """Stage the lock of choosing the organization's primary program.

    It comes before any lock of a program's row: two transactions that each hold one and want the other would deadlock.
    """
    db.stage(_LOCK, (f"primary program:{organization_id}",))


def stage_domain_lock(domain: str) -> None:
    """Stage the lock of deciding which organization a domain belongs to."""
    db.stage(_LOCK, (f"domain:{domain}",))


def stage_invites_lock(organization_id: UUID) -> None:
    """Stage the lock of adding to the organization's pending invites."""
    db.stage(_LOCK, (f"invites:{organization_id}",))


def stage_affiliate_capacity_lock(organization_id: UUID) -> None:
    """Stage the lock of checking whether the organization has room for one more affiliate."""
    db.stage(_LOCK, (f"capacity:{organization_id}",))


def stage_all_people_lock(organization_id: UUID) -> None:
    """Stage the lock of every person and slug of the organization at once.

    An import decides about a thousand of them; as many locks would not fit the server's table.
    """
    db.stage(_LOCK, (_all_people(organization_id),))


def stage_person_lock(*, organization_id: UUID, email: str) -> None:
    """Stage the lock of deciding about one person in the organization."""
    db.stage(_LOCK_SHARED, (_all_people(organization_id),))
    db.stage(_LOCK, (f"person:{organization_id}:{email}",))


def take_slug_lock(*, organization_id: UUID, slug: str) -> None:
    """Take the lock of assigning a slug in the organization."""
    db.stage(_LOCK_SHARED, (_all_people(organization_id),))
    db.run(_LOCK, (f"slug:{organization_id}:{slug}",))


def stage_invited_slug_lock(slug: str) -> None:
    """Stage the lock of assigning a slug to an invited person, in any organization."""
    db.stage(_LOCK, (f"invited slug:{slug}",))


def stage_program_rewards_lock(program_id: UUID) -> None:
    """Stage the lock of a program's budget for clicks and leads; of several programs in the order of their ids."""
    db.stage(_LOCK_PREPARED, (f"rewards:{program_id}",))


def _payout_run(organization_id: UUID) -> str:
    return f"payout-run:{organization_id}"


def _all_people(organization_id: UUID) -> str:
    return f"people:{organization_id}"
