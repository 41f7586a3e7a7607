"""People at the screens, in a real browser."""

import pytest

from tests.support.operators import Operator


@pytest.fixture
def link(app, brand, site):
    """What makes a link of `owner`, `affiliate` or `operator` to the site under test, where something waits."""
    brand.program()
    brand.affiliate("paused", status="Paused")
    brand.affiliate("new", status="Pending", approved_at=None)
    for cents in (1_234_567_89, 20):
        brand.sale(affiliateSlug="paused", amountCents=cents)

    def make(who):
        more = {"owner": ("--org", brand.id), "affiliate": ("--email", "rita@example.com"), "operator": ()}[who]
        return site + "/sign-in" + Operator(app).json("sign-in", who, *more)["url"].partition("/sign-in")[2]

    return make
