"""Checks that the money adds up, organization by organization, and stores the exceptions.

While the last check of an organization has exceptions, its payout runs wait for an operator's review.
"""

from datetime import datetime
from uuid import UUID

import structlog

from domain import jobs
from domain.refusals import Refused
from models.ledger import results, rules
from models.organization import organizations
from pipelines import work

#: How many exceptions of one rule are stored.
MAX_EXCEPTIONS = 20
#: Sorts before every organization id.
FIRST = UUID(int=0)
_BATCH = 500

_log = structlog.get_logger(__name__)


def run(organization_id: UUID, *, limit: int = MAX_EXCEPTIONS, now: datetime) -> list[tuple[str, str]]:
    """Check one organization; store and return the exceptions as `(rule, exception)`. One statement per rule."""
    findings = rules.find_exceptions(organization_id, limit=limit)
    results.stage(organization_id=organization_id, findings=findings, at=now)
    for rule in dict.fromkeys(rule for rule, _ in findings):
        exceptions = [exception for broken, exception in findings if broken == rule]
        _log.error("ledger.broken", organization=str(organization_id), rule=rule, exceptions=exceptions[:3])
    return findings


def any_org_enqueue(organization_id: UUID | None) -> None:
    """Stage the check of one organization, or of all. Raises Refused 404 not_found."""
    if organization_id is None:
        work.enqueue(jobs.LEDGER_CHECK, organization_id=None)
        return
    if organizations.find(organization_id) is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}.")
    work.enqueue(jobs.LEDGER_CHECK_ONE, organization_id=organization_id)


def any_org_start(*, after: UUID = FIRST) -> None:
    """Stage the check of the next organizations, one job each, and the job for the rest."""
    organization_ids = results.any_org_list_next(after=after, limit=_BATCH)
    for organization_id in organization_ids:
        work.enqueue(jobs.LEDGER_CHECK_ONE, organization_id=organization_id)
    if len(organization_ids) == _BATCH:
        work.enqueue(jobs.LEDGER_CHECK, organization_id=None, after=organization_ids[-1])
