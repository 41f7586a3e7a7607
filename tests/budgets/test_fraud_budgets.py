"""What a brand reads about fraud costs the same, whatever was found."""

from adapters import clock
from models import db
from pipelines.fraud import summary
from tests.support.rows.fraud_rows import flagged


def _trips(brand, read):
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        with db.unit_of_work(brand.id):
            read()
    finally:
        db.db.trip_hooks.remove(trips.append)
    return trips


def test_the_summary_keeps_to_its_budget_with_two_foreign_currencies(brand):
    brand.program(click_reward_cents=5, lead_bounty_cents=50, lead_bounty_currency="EUR")
    affiliate_id = brand.affiliate("ben")
    for reason in ("headless", "rapid", "burst"):
        flagged(brand, affiliate_id, reason)
        flagged(brand, affiliate_id, reason, subject="lead")
    with db.unit_of_work(brand.id):
        db.db.stage("update organization set home_currency = 'GBP' where id = %s", (brand.id,))

    trips = _trips(
        brand,
        lambda: summary.summarize(organization_id=brand.id, program_id=brand.programs[-1], days=30, now=clock.now()),
    )

    assert "4 round trips (program; organization; counts; rates)" in summary.summarize.__doc__
    assert len(trips) == 4 + 1, trips


def test_recording_an_event_travels_with_the_commit(brand):
    brand.program()
    affiliate_id = brand.affiliate("ben")
    flagged(brand, affiliate_id)  # prepares the statement

    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        flagged(brand, affiliate_id)
    finally:
        db.db.trip_hooks.remove(trips.append)

    recorded = [trip for trip in trips if b"select id from fraud_event" not in trip]
    assert len(recorded) == 2, recorded  # the record with its commit; the commit of the look-up
