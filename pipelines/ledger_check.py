"""Looks whether the money adds up, organization by organization, and keeps what it finds.

While the last check of an organization found anything, its payout runs wait for an operator's review.
"""

from datetime import datetime
from uuid import UUID

import structlog

from domain import jobs
from domain.refusals import Refused
from models.ledger import results, rules
from models.organization import organizations
from pipelines import work

#: How many exceptions of one rule are kept.
LIMIT = 20
#: Before the first organization.
FIRST = UUID(int=0)
_AT_ONCE = 500

_log = structlog.get_logger(__name__)


def run(organization_id: UUID, *, limit: int = LIMIT, now: datetime) -> list[tuple[str, str]]:
    """Check one organization, keep what was found and return it: `(rule, exception)`. One statement per rule."""
    found = rules.broken(organization_id, limit=limit)
    results.stage(organization_id=organization_id, findings=found, at=now)
    for rule in dict.fromkeys(rule for rule, _ in found):
        exceptions = [exception for broken, exception in found if broken == rule]
        _log.error("ledger.broken", organization=str(organization_id), rule=rule, exceptions=exceptions[:3])
    return found


def any_org_ask(organization_id: UUID | None) -> None:
    """Stage the check of one organization, or of all. Raises Refused 404 not_found."""
    if organization_id is None:
        work.enqueue(jobs.LEDGER_CHECK, organization_id=None)
        return
    if organizations.find(organization_id) is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}.")
    work.enqueue(jobs.LEDGER_CHECK_ONE, organization_id=organization_id)


def any_org_start(*, after: UUID = FIRST) -> None:
    """Stage the check of the next organizations, each by a job of its own, and the job for those who follow."""
    found = results.any_org_next(after=after, limit=_AT_ONCE)
    for organization_id in found:
        work.enqueue(jobs.LEDGER_CHECK_ONE, organization_id=organization_id)
    if len(found) == _AT_ONCE:
        work.enqueue(jobs.LEDGER_CHECK, organization_id=None, after=found[-1])
