"""How far behind those are who read the primary's log, for the Prometheus page."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from models import db
from models.upkeep import log_positions, log_slots


class ReplicaFigures:
    """Whether a replica is there, and how far behind; nothing where there is none to read at, or the primary is away.

    Budget: 1 statement at each of the two.
    """

    def collect(self) -> Iterator[Metric]:
        """Return what the page says."""
        if db.db.replica_dsn is None:
            return
        try:
            with db.any_org_work():
                primary = log_positions.any_org_read_primary()
        except db.UNAVAILABLE:
            return
        try:
            with db.read_only(0), db.any_org_work():
                state = log_positions.any_org_read_replica()
        except (*db.UNAVAILABLE, db.UNDEFINED):
            state = None
        yield GaugeMetricFamily(
            "finderfee_replica_up", "1 if a replica answers at DATABASE_READ_URL, else 0.", value=int(state is not None)
        )
        if state is not None:
            bytes_behind = max(primary - state.position, 0)
            yield GaugeMetricFamily(
                "finderfee_replica_lag_bytes", "What the replica has not replayed of the log.", value=bytes_behind
            )
            yield GaugeMetricFamily(
                "finderfee_replica_lag_seconds",
                "Age of the last change that the replica has, 0 where it has all of them.",
                value=state.last_change_age_s if bytes_behind else 0,
            )


class LogFigures:
    """What the primary keeps of its log for each slot, and whether anybody reads it; nothing while it is away.

    Budget: 1 statement.
    """

    def collect(self) -> Iterator[Metric]:
        """Return what the page says."""
        try:
            with db.any_org_work():
                found = log_slots.any_org_list_slots()
        except db.UNAVAILABLE:
            return
        is_read = GaugeMetricFamily(
            "finderfee_log_slot_read", "1 if somebody receives the log by this slot, 0 if nobody does.", labels=["slot"]
        )
        kept = GaugeMetricFamily(
            "finderfee_log_slot_kept_bytes",
            "What PostgreSQL keeps of its log on its disk, since this slot was not told it yet.",
            labels=["slot"],
        )
        for one in found:
            is_read.add_metric([one.name], one.is_read)
            if one.kept_bytes is not None:
                kept.add_metric([one.name], one.kept_bytes)
        yield from (is_read, kept)
