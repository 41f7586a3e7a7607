"""An affiliate of two brands, and another affiliate at both."""

from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from tests.support.rows.brands import Partner
from tests.support.rows.payroll import Payroll


@dataclass
class Person:
    """An affiliate who signed in, and the payrolls of the brands that they work for."""

    partner: Partner
    email: str
    first: Payroll
    second: Payroll

    def get(self, path):
        """Return the JSON response to a GET request of this person."""
        answer = self.partner.get(path)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.json

    def balance(self, currency="USD"):
        """Return the amounts on hold, payable, on their way and paid in a currency."""
        matching = [balance for balance in self.get("/api/me/balance")["balances"] if balance["currency"] == currency]
        names = ("onHoldCents", "payableCents", "onItsWayCents", "paidCents")
        return tuple(matching[0][name] for name in names) if matching else (0, 0, 0, 0)

    def decide(self, conversion_id, verb):
        """Deny or invalidate a conversion as the first brand."""
        prefix = "/api" if verb == "deny" else "/api/v1"
        answer = self.first.brand.person("Manager").post(f"{prefix}/conversions/{conversion_id}/{verb}")
        assert answer.status_code == 200, answer.get_data(as_text=True)

    def hold(self, days=30):
        """Set the payout hold of both brands to a number of days."""
        for payroll in (self.first, self.second):
            payroll.execute("update organization set payout_grace_days = %s where id = %s", days, payroll.brand.id)


def _create_affiliate(payroll: Payroll, slug: str, email: str) -> UUID:
    affiliate_id = payroll.brand.affiliate(
        slug, email=email, email_normalized=email, payout_method="ProcessorConnect", payout_destination=f"acct_{slug}"
    )
    payroll.affiliates[slug] = affiliate_id
    return affiliate_id


@pytest.fixture
def rita(app):
    """Return Rita, an affiliate of two brands that Ben works for too."""
    email = f"rita-{uuid4().hex}@example.com"
    first, second = Payroll.create(app), Payroll.create(app)
    for payroll in (first, second):
        _create_affiliate(payroll, "rita", email)
        payroll.affiliate("ben")
    return Person(Partner(app, email), email, first, second)


@pytest.fixture
def stranger(app):
    """Return a person who is not an affiliate of any brand."""
    return Partner(app, f"eva-{uuid4().hex}@example.com")
