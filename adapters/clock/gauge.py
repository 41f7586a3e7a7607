"""The difference between this machine's clock and the database's as a number for /metrics."""

from prometheus_client import Gauge

from adapters.clock import FollowedClock

# The processes that share a metrics folder share a machine and its clock: the last reading of any of them counts.
_ahead_s = Gauge(
    "finderfee_clock_ahead_seconds",
    "How far this machine's clock is ahead of the database's; negative where it is behind.",
    multiprocess_mode="mostrecent",
)


def follow(database_clock: FollowedClock) -> None:
    """Publish the difference at every reading of the database's clock from now on."""
    if _ahead_s.set not in database_clock.hooks:
        database_clock.hooks.append(_ahead_s.set)
