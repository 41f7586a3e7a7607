"""The limits of each way of running the service, step by step, and the change that leads to the next step.

The bounds of a step are round numbers for machines that can be rented: assumptions, not measurements.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """A limited resource: its unit, and what to change when it runs out."""

    unit: str
    change: str


LIMITS: Mapping[str, Limit] = {
    "cores": Limit("cores of one machine", "move the fleets to separate machines"),
    "connections": Limit("connections of PostgreSQL", "add a PgBouncer (DATABASE_POOL=transaction)"),
    "postgres": Limit(
        "cores of the primary PostgreSQL", "a larger machine, reads from a replica; then distribute the tenants"
    ),
    "wal": Limit("MB/s of write-ahead log", "a separate disk for it; then distribute the tenants"),
    "disk": Limit(
        "TB of one PostgreSQL after a year", "keep clicks and events for fewer days; then distribute the tenants"
    ),
    "valkey": Limit(
        "cores of Valkey, which uses only one",
        "jobs through RabbitMQ; then split clicks, which are one stream, by installation",
    ),
    "turn": Limit(
        "share of time that writing the largest brand's clicks takes, one batch after the other",
        "not available yet: it would need an advisory lock per program instead of per organization",
    ),
}


@dataclass(frozen=True, slots=True)
class Step:
    """A way of running the service: its bounds of each resource, and how to set it up."""

    name: str
    how: str
    bounds: Mapping[str, float]


_UNLIMITED = float("inf")

#: From the smallest. A later step includes the changes of the earlier ones.
STEPS = (
    Step(
        "one machine",
        "all units of docs/deploy/systemd.md on one machine with 8 cores",
        {"cores": 8, "connections": 100, "postgres": 6, "wal": 100, "disk": 2, "valkey": 0.7, "turn": 0.7},
    ),
    Step(
        "fleets apart",
        "PostgreSQL and Valkey on separate machines, fleets as in docs/deploy/kubernetes.md, a PgBouncer in front",
        {"cores": _UNLIMITED, "connections": 2_000, "postgres": 24, "wal": 300, "disk": 8, "valkey": 0.7, "turn": 0.7},
    ),
    Step(
        "a large primary",
        "the largest machine for PostgreSQL, lists and statistics from replicas, jobs through RabbitMQ",
        {
            "cores": _UNLIMITED,
            "connections": 10_000,
            "postgres": 90,
            "wal": 1_000,
            "disk": 60,
            "valkey": 0.9,
            "turn": 0.7,
        },
    ),
    Step(
        "tenants apart",
        "a distributed PostgreSQL of twenty nodes",
        {
            "cores": _UNLIMITED,
            "connections": 200_000,
            "postgres": 1_800,
            "wal": 20_000,
            "disk": 1_200,
            "valkey": 0.9,
            "turn": 0.7,
        },
    ),
    Step(
        "brands apart",
        "several installations, each with its own host and some of the brands",
        {
            "cores": _UNLIMITED,
            "connections": _UNLIMITED,
            "postgres": _UNLIMITED,
            "wal": _UNLIMITED,
            "disk": _UNLIMITED,
            "valkey": _UNLIMITED,
            "turn": 0.7,
        },
    ),
)


@dataclass(frozen=True, slots=True)
class StepResult:
    """The step on which a load can run (None: on none), and the first exceeded limit of each step before it."""

    step: Step | None
    broke: Mapping[str, str]


def find_step(needs: Mapping[str, float]) -> StepResult:
    """Return the step on which a load can run; `needs` has a number for each of LIMITS."""
    broke: dict[str, str] = {}
    for step in STEPS:
        worst = max(step.bounds, key=lambda name: needs[name] / step.bounds[name])
        if needs[worst] <= step.bounds[worst]:
            return StepResult(step, broke)
        broke[step.name] = worst
    return StepResult(None, broke)
