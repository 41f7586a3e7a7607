"""What the tests ask of a brand's money in one statement is what every rule by itself says of it."""

import pytest

from tests.support import books
from tests.support.databases import alter
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
def test_damage_is_found_as_by_every_rule_alone(brand, rival, drain, damage):
    for one in (brand, rival):
        one.program()
        one.affiliate("ben")
        one.sale()
    drain()
    assert books.list_violations(brand.id) == []

    alter(brand, damage)

    alone = invariants.list_violations(brand.rows, organization_id=brand.id)
    assert sorted(books.list_violations(brand.id)) == sorted(alone) != []
    assert books.list_violations(rival.id) == []
