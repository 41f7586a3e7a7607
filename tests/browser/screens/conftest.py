"""Sign-in links for the tests of screens in a real browser."""

import pytest

from tests.support.operators import Operator


@pytest.fixture
def link(app, brand, site):
    """Return a function that creates a sign-in link of `owner`, `affiliate` or `operator`; the brand has open tasks."""
    brand.program()
    brand.affiliate("paused", status="Paused")
    brand.affiliate("new", status="Pending", approved_at=None)
    for cents in (1_234_567_89, 20):
        brand.sale(affiliateSlug="paused", amountCents=cents)

    def create_link(role):
        options = {"owner": ("--org", brand.id), "affiliate": ("--email", "rita@example.com"), "operator": ()}[role]
        return site + "/sign-in" + Operator(app).json("sign-in", role, *options)["url"].partition("/sign-in")[2]

    return create_link
