"""Where `flask trigger` has things happen, and with whom.

Nobody real is paid for it, now or later: but for the demo's brands, sales and affiliates are tests, which no payout
counts; clicks are paid to affiliates of our own, payouts and deals to them alone and in the sandbox.
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

#: How long workers may take to do what something leads to.
PATIENCE_S = 20


@dataclass(frozen=True, slots=True)
class Scene:
    """Where it happens. What happens on a brand of the demo may be paid out like anything else there."""

    organization: Organization
    is_demo: bool

    @property
    def id(self) -> UUID:
        """The organization's id."""
        return self.organization.id

    @property
    def is_sandboxed(self) -> bool:
        """Say whether the organization's payouts move no money, even where rails are configured."""
        return self.organization.sandbox_rail is not None

    @property
    def is_for_test(self) -> bool:
        """Say whether what is made is never to be paid out."""
        return not (self.is_demo and self.is_sandboxed)


def seller(scene: Scene) -> Partner:
    """Return somebody who earns by sales. Raises Refused 409 where there is nobody."""
    with db.unit_of_work(scene.id):
        found = rehearsals.find_seller(scene.id)
    if found is None:
        message = f"{scene.organization.name} has no Approved affiliate in an open campaign that pays for sales."
        raise Refused(409, "", message)
    return found


def join(scene: Scene, program_id: UUID, *, is_test: bool) -> UUID:
    """Add an affiliate of our own to a campaign and return their id."""
    name = f"{rehearsals.EMAIL_PREFIX}{secrets.token_hex(6)}"
    sent = {"programId": str(program_id), "email": f"{name}@example.com", "fullName": "Made by flask trigger"}
    with db.unit_of_work(scene.id):
        joined = enrollment.create(
            organization_id=scene.id,
            body=AffiliateBody().load(sent),
            is_test=is_test,
            now=clock.now(),
        )
    return joined.affiliate.id


def payee(scene: Scene, program_id: UUID) -> UUID:
    """Add an affiliate of our own who can be paid, and return their id."""
    affiliate_id = join(scene, program_id, is_test=False)
    with db.any_org_work():
        account = PayoutAccount(Method.Wallet, f"{affiliate_id}@example.com")
        choose_account.any_org_set_for_affiliate(affiliate_id=affiliate_id, account=account)
    return affiliate_id


def only_in_the_sandbox(scene: Scene, what: str) -> None:
    """Raise Refused 409 where `what` happens with real money."""
    if not scene.is_sandboxed:
        message = (
            f"{what} with real money at {scene.organization.name}."
            f" Next, for one to rehearse with: flask org set {scene.id} sandboxRail=ok"
        )
        raise Refused(409, "", message)
