"""What the script of the brands' pages costs the database: every visitor of theirs asks for it."""

from urllib.parse import urlsplit
from uuid import uuid4

import pytest

import settings
from models import db

_OURS = "ours"


@pytest.mark.parametrize(
    ("host", "names_program", "most"), [(_OURS, False, 0), (_OURS, True, 1), ("go.{}.example", False, 1)]
)
def test_the_script_costs_one_statement_at_most(brand, host, names_program, most):
    program_id = brand.program()
    domain = urlsplit(settings.current().web.url).netloc if host == _OURS else host.format(uuid4().hex)
    if host != _OURS:
        brand.set(trackingDomain=domain, trackingDomainVerified="on")
    path = "/api/v1/r/loader.js" + (f"?programId={program_id}" if names_program else "")
    client = brand.app.test_client()
    client.get(path, headers={"Host": domain})
    trips = []
    db.db.trip_hooks.append(trips.append)
    try:
        answer = client.get(path, headers={"Host": domain})
    finally:
        db.db.trip_hooks.remove(trips.append)

    assert answer.status_code == 200
    assert len([trip for trip in trips if trip != b"commit"]) <= most, trips
