"""The combined check of a brand's money finds the same violations as each rule separately."""

import pytest

from tests.support import books
from tests.support.databases import run_as_brand
from tests.support.installation import invariants


@pytest.mark.parametrize(
    "damage",
    [
        "update conversion set commission_cents = commission_cents + 1",
        "update affiliate_revenue set net_cents = net_cents + 1",
        "update sale set settled_at = null",
        "delete from event",
    ],
)
def test_ledger_check_and_its_single_rules_find_the_same_damage(brand, rival, drain, damage):
    for tenant in (brand, rival):
        tenant.program()
        tenant.affiliate("ben")
        tenant.sale()
    drain()
    assert books.list_violations(brand.id) == []

    run_as_brand(brand, damage)

    violations_by_rule = invariants.list_violations(brand.rows, organization_id=brand.id)
    assert sorted(books.list_violations(brand.id)) == sorted(violations_by_rule) != []
    assert books.list_violations(rival.id) == []
