"""An affiliate on the portal, with the brand of their program."""

from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from tests.support.outside.visitor import Visitor
from tests.support.rows.payroll import Payroll


@dataclass
class AtPortal:
    """The affiliate Rita in her browser, and the payroll of her brand."""

    visitor: Visitor
    email: str
    payroll: Payroll
    affiliate_id: UUID

    def open_page(self, path, status=200):
        """Open a page, check the status and return its text."""
        answer = self.visitor.open(path)
        assert answer.status_code == status, answer.text
        return answer.text

    def send(self, path, **form):
        """Send a form and return the answer."""
        return self.visitor.send(path, form)


@pytest.fixture
def rita(app, flask):
    """Rita, an affiliate of a brand that pays 20 % and holds commissions for 30 days."""
    payroll, email = Payroll.create(app), f"rita-{uuid4().hex}@example.com"
    affiliate_id = payroll.brand.affiliate(
        "rita", email=email, email_normalized=email, payout_method="Wallet", payout_destination="r@example.com"
    )
    payroll.affiliates["rita"] = affiliate_id
    payroll.execute("update organization set payout_grace_days = 30 where id = %s", payroll.brand.id)
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "affiliate", "--email", email)["url"])
    return AtPortal(visitor, email, payroll, affiliate_id)
