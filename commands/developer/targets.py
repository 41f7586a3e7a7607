"""The organization and affiliates with which `flask trigger` causes events.

No real money is ever paid for them: except at the demo's brands, sales and affiliates are tests, which payouts ignore;
clicks, payouts and deals go only to test affiliates in the sandbox.
"""

import secrets
from dataclasses import dataclass
from uuid import UUID

from adapters import clock
from domain.payouts.destinations import PayoutAccount
from domain.payouts.transfers import Method
from domain.refusals import Refused
from models import db
from models.organization import rehearsals
from models.organization.organizations import Organization
from models.organization.rehearsals import Partner
from pipelines.affiliates import enrollment
from pipelines.payouts import choose_account
from schemas.affiliates.affiliate import AffiliateBody

#: Seconds that workers may take for follow-up jobs.
TIMEOUT_S = 20


@dataclass(frozen=True, slots=True)
class TriggerTarget:
    """The organization of the event. Sales at a brand of the demo may be paid out like any other there."""

    organization: Organization
    is_demo: bool

    @property
    def id(self) -> UUID:
        """The organization's id."""
        return self.organization.id

    @property
    def is_sandboxed(self) -> bool:
        """Return whether the organization's payouts move no money, even if rails are configured."""
        return self.organization.sandbox_rail is not None

    @property
    def is_for_test(self) -> bool:
        """Return whether created rows must be tests, which are never paid out."""
        return not (self.is_demo and self.is_sandboxed)


def find_seller(target: TriggerTarget) -> Partner:
    """Return an affiliate who earns by sales. Raises Refused 409 if there are no such affiliates."""
    with db.unit_of_work(target.id):
        partner = rehearsals.find_seller(target.id)
    if partner is None:
        message = f"{target.organization.name} has no Approved affiliate in an open campaign that pays for sales."
        raise Refused(409, "", message)
    return partner


def add_affiliate(target: TriggerTarget, program_id: UUID, *, is_test: bool) -> UUID:
    """Add a test affiliate to a campaign and return their id."""
    name = f"{rehearsals.EMAIL_PREFIX}{secrets.token_hex(6)}"
    body = {"programId": str(program_id), "email": f"{name}@example.com", "fullName": "Made by flask trigger"}
    with db.unit_of_work(target.id):
        joined = enrollment.create(
            organization_id=target.id,
            body=AffiliateBody().load(body),
            is_test=is_test,
            now=clock.now(),
        )
    return joined.affiliate.id


def add_payable_affiliate(target: TriggerTarget, program_id: UUID) -> UUID:
    """Add a test affiliate with a payout account, and return their id."""
    affiliate_id = add_affiliate(target, program_id, is_test=False)
    with db.any_org_work():
        account = PayoutAccount(Method.Wallet, f"{affiliate_id}@example.com")
        choose_account.any_org_set_for_affiliate(affiliate_id=affiliate_id, account=account)
    return affiliate_id


def require_sandbox(target: TriggerTarget, reason: str) -> None:
    """Raise Refused 409 with the reason `what` unless the organization pays in the sandbox."""
    if not target.is_sandboxed:
        message = (
            f"{reason} at {target.organization.name}."
            f" Next, to pay in the sandbox: flask org set {target.id} sandboxRail=ok"
        )
        raise Refused(409, "", message)
