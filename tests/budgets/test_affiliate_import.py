"""Round trips of an import, beside the budget written in its docstring."""

from uuid import uuid4

from adapters import clock
from models import db
from pipelines.imports import affiliates
from schemas.imports.affiliates import AffiliateImport
from tests.support.api.lists import trips_of


def _import(brand, rows):
    wanted = AffiliateImport().load({"programId": str(brand.programs[-1]), "affiliates": rows})
    asked = affiliates.AffiliateImporter(organization_id=brand.id, member_id=uuid4(), is_test=False, may_notify=False)
    with db.unit_of_work(brand.id):
        return affiliates.run(asked, wanted, now=clock.now())


def test_a_thousand_rows_cost_as_many_round_trips_as_one(brand):
    brand.program()
    rows = [{"email": f"number-{number}@example.com", "slug": f"slug-{number}"} for number in range(1000)]

    trips = trips_of(lambda: _import(brand, rows))

    assert "Budget: 6 round trips" in (affiliates.run.__doc__ or "")
    assert trips == trips_of(lambda: _import(brand, [{"email": "one@example.com", "slug": "one"}])) == 6
    assert brand.rows("select count(*) from affiliate") == [(1001,)]


def test_new_slugs_cost_one_round_trip_more_however_many(brand):
    brand.program()
    rows = [{"email": f"number-{number}@example.com", "slug": f"slug_{number}"} for number in range(500)]
    rows += [{"email": f"other-{number}@example.com"} for number in range(500)]

    assert "one more where rows bring no slug, and one where a slug cannot be had" in (affiliates.run.__doc__ or "")
    assert trips_of(lambda: _import(brand, rows)) == 8
    assert trips_of(lambda: _import(brand, [{"email": "one@example.com", "slug": "one_"}])) == 7
    assert trips_of(lambda: _import(brand, [{"email": "two@example.com"}])) == 7
