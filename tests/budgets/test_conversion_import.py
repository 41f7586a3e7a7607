"""Round trips of an import of conversions and of its undoing, beside the budgets written in their docstrings."""

from uuid import UUID, uuid4

from adapters import clock
from models import db
from pipelines.imports import conversions, undo
from schemas.imports.conversions import ConversionImport, ConversionPreview
from tests.support.api.importing import past_sale
from tests.support.api.lists import trips_of


def _import(brand, rows):
    wanted = ConversionImport().load(
        {"programId": str(brand.programs[-1]), "conversions": rows, "confirmUnpaidPayout": True}
    )
    asked = conversions.ConversionImporter(organization_id=brand.id, member_id=uuid4(), is_test=False)
    with db.unit_of_work(brand.id):
        return conversions.run(asked, wanted, now=clock.now())


def test_a_thousand_rows_cost_as_many_round_trips_as_one(brand):
    brand.program()
    brand.affiliate("ben")
    rows = [past_sale(externalId=f"order-{number}", processorCustomerId=f"cus-{number}") for number in range(1000)]

    trips = trips_of(lambda: _import(brand, rows))

    assert "Budget: 5 round trips" in (conversions.run.__doc__ or "")
    assert trips == trips_of(lambda: _import(brand, [past_sale(externalId="one")])) == 5
    assert brand.rows("select count(*) from conversion") == [(1001,)]


def test_a_look_at_a_thousand_rows_costs_as_many_round_trips_as_at_one(brand):
    brand.program()
    brand.affiliate("ben")

    def look(number):
        rows = [past_sale(externalId=f"order-{place}") for place in range(number)]
        wanted = ConversionPreview().load({"programId": str(brand.programs[-1]), "conversions": rows})
        asked = conversions.ConversionImporter(organization_id=brand.id, member_id=uuid4(), is_test=False)
        with db.unit_of_work(brand.id):
            conversions.preview(asked, wanted, now=clock.now())

    assert "Budget: 3 round trips" in (conversions.preview.__doc__ or "")
    assert trips_of(lambda: look(1000)) == trips_of(lambda: look(1)) == 3 + 1  # that it ends


def test_a_look_at_an_undoing_costs_three_round_trips(brand):
    brand.program()
    brand.affiliate("ben")
    job_id = _import(brand, [past_sale()]).job.id

    def look():
        with db.unit_of_work(brand.id):
            undo.preview(organization_id=brand.id, import_id=job_id)

    assert "Budget: 3 round trips" in (undo.preview.__doc__ or "")
    assert trips_of(look) == 3 + 1  # that it ends


def _undo(brand, job_id):
    with db.unit_of_work(brand.id):
        return undo.run(organization_id=brand.id, import_id=job_id, now=clock.now())


def test_a_thousand_rows_are_taken_back_in_as_many_round_trips_as_one(brand):
    brand.program()
    brand.affiliate("ben")
    rows = [past_sale(externalId=f"order-{number}", processorCustomerId=f"cus-{number}") for number in range(1000)]
    many, one = _import(brand, rows[1:]).job.id, _import(brand, rows[:1]).job.id

    trips = trips_of(lambda: _undo(brand, many))

    assert "Budget: 5 round trips" in (undo.run.__doc__ or "")
    assert trips == trips_of(lambda: _undo(brand, one)) == 5
    assert brand.rows("select count(*) from conversion") == [(0,)]


def test_affiliates_are_taken_back_in_seven_round_trips(brand):
    brand.program()
    people = [{"email": f"number-{number}@example.com"} for number in range(100)]
    body = {"programId": str(brand.programs[-1]), "affiliates": people}
    job_id = UUID(brand.post("/api/v1/affiliates/import", body).json["jobId"])

    assert "7 for affiliates" in (undo.run.__doc__ or "")
    assert trips_of(lambda: _undo(brand, job_id)) == 7
