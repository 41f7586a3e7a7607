"""A person who is an affiliate of two brands, and another one beside them at both."""

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
        """Return what an address shows them."""
        answer = self.partner.get(path)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.json

    def balance(self, currency="USD"):
        """Return what stands on hold, payable, on its way and paid in a currency."""
        found = [one for one in self.get("/api/me/balance")["balances"] if one["currency"] == currency]
        names = ("onHoldCents", "payableCents", "onItsWayCents", "paidCents")
        return tuple(found[0][name] for name in names) if found else (0, 0, 0, 0)

    def decide(self, conversion_id, verb):
        """Let the first brand deny or invalidate a conversion."""
        prefix = "/api" if verb == "deny" else "/api/v1"
        answer = self.first.brand.person("Manager").post(f"{prefix}/conversions/{conversion_id}/{verb}")
        assert answer.status_code == 200, answer.get_data(as_text=True)

    def hold(self, days=30):
        """Let what is sold from now on wait for so many days, at both brands."""
        for payroll in (self.first, self.second):
            payroll.execute("update organization set payout_grace_days = %s where id = %s", days, payroll.brand.id)


def _joined(payroll: Payroll, slug: str, email: str) -> UUID:
    found = payroll.brand.affiliate(
        slug, email=email, email_normalized=email, payout_method="ProcessorConnect", payout_destination=f"acct_{slug}"
    )
    payroll.affiliates[slug] = found
    return found


@pytest.fixture
def rita(app):
    """Rita, at two brands where Ben is as well."""
    email = f"rita-{uuid4().hex}@example.com"
    first, second = Payroll.create(app), Payroll.create(app)
    for payroll in (first, second):
        _joined(payroll, "rita", email)
        payroll.affiliate("ben")
    return Person(Partner(app, email), email, first, second)


@pytest.fixture
def stranger(app):
    """Somebody who is nobody's affiliate."""
    return Partner(app, f"eva-{uuid4().hex}@example.com")
