"""How many statements a run takes that lists what a gateway has: as many for each page, whatever is in it."""

from adapters import clock
from models import db
from pipelines.gateways import reconcile
from tests.support.gateways.playing import connected, played
from tests.support.gateways.stage import Purchase


def _pages(brand, connection_id):
    """List everything, and return how many statements each page took."""
    with db.unit_of_work(brand.id):
        run = reconcile.prepare(organization_id=brand.id, connection_id=connection_id, since=None, now=clock.now())
    found, counts = reconcile.ReconcileFound(), []
    for page in reconcile.pages(run, found):
        trips = []
        db.db.trip_hooks.append(trips.append)
        try:
            with db.unit_of_work(brand.id):
                reconcile.take(run, page, found, now=clock.now())
        finally:
            db.db.trip_hooks.remove(trips.append)
        counts.append(len(trips))
    return found, counts


def test_a_page_of_a_reconcile_takes_the_same_trips_however_much_is_in_it(brand, drain):
    brand.program()
    brand.affiliate("jane")
    with played() as stage:
        connection_id = connected(brand.person("Owner"), stage)["id"]
        stage.pay(Purchase())
        first, few = _pages(brand, connection_id)
        drain()
        for number in range(30):
            stage.pay(Purchase(customer=str(number)))
        more, many = _pages(brand, connection_id)
        drain()
        again, known = _pages(brand, connection_id)

    assert (first.new, more.new, again.new) == (2, 60, 0)
    assert max(few + many + known) <= 4  # the tenant; what is known; what is new; its jobs with the commit
