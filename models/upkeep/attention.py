"""Counts of everything that waits for an operator, over all organizations, in one statement."""

from dataclasses import dataclass

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    """Counts of failed jobs, runs to review, payouts in doubt, open rail events, organizations with ledger findings,
    failed emails, refused connections, milestones in dispute, and programs that wait for their network review.
    """

    dead_letters: int
    runs_to_review: int
    doubtful_payouts: int
    rail_events: int
    red_organizations: int
    failed_mail: int
    connections: int
    disputes: int
    network_reviews: int


_COUNTED = {
    "dead_letters": "(select count(*) from job where failed_at is not null)",
    "runs_to_review": "(select count(*) from payout_run where review_status = 'Pending')",
    "doubtful_payouts": """(select count(*) from payout_attempt a
      join payout p on p.organization_id = a.organization_id and p.id = a.payout_id and p.attempt = a.number
      where p.status = 'Processing' and a.state in ('intent', 'unknown', 'accepted')
        and a.created_at < now() - interval '15 minutes')""",
    "rail_events": "(select count(*) from rail_event where outcome in ('Parked', 'Contradicts'))",
    "red_organizations": "(select count(*) from ledger_check where is_red)",
    "failed_mail": "(select count(*) from mail_message where status = 'Failed' and body_sealed is not null)",
    "connections": """(select count(*) from gateway_connection where status = 'Broken')
      + (select count(*) from platform_connection where status = 'Broken')""",
    "disputes": "(select count(*) from deal_milestone where status = 'Disputed')",
    "network_reviews": """(select count(*) from program
      where network_review = 'Pending' and archived_at is null)""",
}
_ROWS = Rows(WaitingCounts)
_COUNTS = f"select {columns(WaitingCounts, **_COUNTED)}"


def any_org_count_waiting() -> WaitingCounts:
    """Return the current counts."""
    counts = _ROWS.first(_COUNTS)
    assert counts is not None  # it has one row
    return counts
