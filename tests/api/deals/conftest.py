"""A brand and a creator who make a deal."""

import pytest

from tests.support.rows.deal_scene import DealScene


@pytest.fixture
def scene(app):
    """A verified brand and its affiliate with an account."""
    return DealScene.create(app)


@pytest.fixture
def submitted_deal(scene):
    """A scene whose deal has its only milestone submitted, and the deal's id."""
    deal_id = scene.create_funded()
    assert scene.submit(deal_id).status_code == 200
    return scene, deal_id
