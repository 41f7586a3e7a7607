"""Prometheus collectors of the replica's lag and of the primary's log slots."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from models import db
from models.upkeep import log_positions, log_slots


class ReplicaCollector:
    """Whether the replica is up, and its lag; nothing without a configured replica or while the primary is down.

    Budget: 1 statement at each of the two.
    """

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
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
                "finderfee_replica_lag_bytes", "Log that the replica has not replayed yet.", value=bytes_behind
            )
            yield GaugeMetricFamily(
                "finderfee_replica_lag_seconds",
                "Age of the last change that the replica has, 0 where it has all of them.",
                value=state.last_change_age_s if bytes_behind else 0,
            )


class LogSlotCollector:
    """How much log the primary keeps for each slot, and whether the slot is read; nothing while the primary is down.

    Budget: 1 statement.
    """

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        try:
            with db.any_org_work():
                slots = log_slots.any_org_list_slots()
        except db.UNAVAILABLE:
            return
        is_read = GaugeMetricFamily(
            "finderfee_log_slot_read", "1 if a client receives the log through this slot, else 0.", labels=["slot"]
        )
        kept_bytes = GaugeMetricFamily(
            "finderfee_log_slot_kept_bytes",
            "Log that PostgreSQL keeps on disk because this slot has not received it yet.",
            labels=["slot"],
        )
        for slot in slots:
            is_read.add_metric([slot.name], slot.is_read)
            if slot.kept_bytes is not None:
                kept_bytes.add_metric([slot.name], slot.kept_bytes)
        yield from (is_read, kept_bytes)
