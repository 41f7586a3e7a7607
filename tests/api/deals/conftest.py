"""A brand and a creator who have something to do with each other."""

import pytest

from tests.support.rows.deal_scene import DealScene


@pytest.fixture
def dealing(app):
    """A verified brand and its affiliate with an account."""
    return DealScene.create(app)


@pytest.fixture
def submitted(dealing):
    """A brand whose deal has its one milestone handed in, and the deal's id."""
    deal_id = dealing.create_funded()
    assert dealing.submit(deal_id).status_code == 200
    return dealing, deal_id
