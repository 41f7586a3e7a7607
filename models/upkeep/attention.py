"""How much of each thing waits for an operator, of all organizations: one statement for all of them."""

from dataclasses import dataclass

from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    """Runs to review, payouts that nobody knows the end of, open words of rails, organizations whose money does not add
    up, letters that failed, connections that are refused, milestones in dispute, programs that wait for their review
    in the network, and dead letters.
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
    """Return how much of each waits now."""
    found = _ROWS.first(_COUNTS)
    assert found is not None  # it has one row
    return found
