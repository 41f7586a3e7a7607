"""Counts of everything that only an operator can resolve."""

from dataclasses import asdict
from datetime import datetime

from models.upkeep import attention
from pipelines import fx_intake, schedule


def any_org_count(*, now: datetime) -> dict[str, int]:
    """Return how many items of each kind wait for an operator. Budget: 3 statements."""
    return {
        **asdict(attention.any_org_count_waiting()),
        "late_ticks": sum(line.is_late for line in schedule.list_lines()),
        "stale_rates": sum(age.is_stale for age in fx_intake.any_org_list_ages(now=now)),
    }
