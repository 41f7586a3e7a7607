"""Who wrote is known to all processes for a while, and nobody is believed who cannot know."""

import os

import pytest

from adapters import broker
from api.edge.replica.commit_positions import CommitPositions

_URL = os.environ["REDIS_URL"]

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture
def _known():
    broker.client(_URL).set("{finderfee:reads}:known", 1)


@pytest.mark.usefixtures("_known")
def test_the_latest_commit_of_any_name_counts_whoever_marked_it():
    one, other = CommitPositions(_URL, keep_s=60), CommitPositions(_URL, keep_s=60)
    one.record(["brand"], 0x1F_0000_0000)
    other.record(["brand", "affiliate"], 0x2_0000_0000)

    assert one.find_latest(["brand"]) == 0x1F_0000_0000
    assert one.find_latest(["affiliate"]) == other.find_latest(["affiliate", "nobody"]) == 0x2_0000_0000
    assert one.find_latest(["nobody"]) == 0
    assert 0 < broker.client(_URL).ttl("{finderfee:reads}:brand") <= 60


def test_a_server_that_was_emptied_is_not_believed_until_every_mark_would_have_ended():
    marks = CommitPositions(_URL, keep_s=60)

    assert marks.find_latest(["brand"]) is None
    assert marks.find_latest(["brand"]) is None
    assert 0 < broker.client(_URL).ttl("{finderfee:reads}:new") <= 60
    broker.client(_URL).delete("{finderfee:reads}:new")  # as it does by itself
    assert marks.find_latest(["brand"]) == 0


@pytest.mark.usefixtures("_known")
def test_what_could_not_be_marked_is_marked_for_everybody_before_anything_is_believed(monkeypatch):
    monkeypatch.setattr("api.edge.replica.commit_positions._PAUSE_S", 3600)
    marks = CommitPositions(_URL, keep_s=60)
    away = CommitPositions("unix:///nowhere/valkey.sock?db=0", keep_s=60)
    usual, marks._redis = marks._redis, away._redis
    marks.record(["brand"], 77)
    assert marks.find_latest(["another"]) is None
    marks._redis = usual

    assert marks.find_latest(["another"]) is None  # it is left alone for a while
    marks._paused_until = 0.0
    assert marks.find_latest(["another"]) == 77
    assert CommitPositions(_URL, keep_s=60).find_latest(["stranger"]) == 77
