"""The metric of the difference between this machine's clock and the database's."""

from prometheus_client import Gauge

from adapters.clock import ClockSource

# Processes with a common metrics folder have a common clock: the latest reading of any of them is shown.
_ahead_s = Gauge(
    "finderfee_clock_ahead_seconds",
    "How far this machine's clock is ahead of the database's; negative if it is behind.",
    multiprocess_mode="mostrecent",
)


def publish_difference(database_clock: ClockSource) -> None:
    """Set the metric at every reading of the database's clock from now on."""
    if _ahead_s.set not in database_clock.hooks:
        database_clock.hooks.append(_ahead_s.set)
