"""Commit positions are shared by all processes for a while, and are unknown while marks could be missing."""

import os

import pytest

from adapters import broker
from api.edge.replica.commit_positions import CommitPositions

_URL = os.environ["REDIS_URL"]

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture
def initialized_marks():
    broker.client(_URL).set("{finderfee:reads}:known", 1)


@pytest.mark.usefixtures("initialized_marks")
def test_latest_position_is_the_maximum_over_names_and_processes():
    first, second = CommitPositions(_URL, keep_s=60), CommitPositions(_URL, keep_s=60)
    first.record(["brand"], 0x1F_0000_0000)
    second.record(["brand", "affiliate"], 0x2_0000_0000)

    assert first.find_latest(["brand"]) == 0x1F_0000_0000
    assert first.find_latest(["affiliate"]) == second.find_latest(["affiliate", "unrecorded"]) == 0x2_0000_0000
    assert first.find_latest(["unrecorded"]) == 0
    assert 0 < broker.client(_URL).ttl("{finderfee:reads}:brand") <= 60


def test_emptied_server_returns_none_until_all_lost_marks_would_have_expired():
    marks = CommitPositions(_URL, keep_s=60)

    assert marks.find_latest(["brand"]) is None
    assert marks.find_latest(["brand"]) is None
    assert 0 < broker.client(_URL).ttl("{finderfee:reads}:new") <= 60
    broker.client(_URL).delete("{finderfee:reads}:new")  # as its expiry does
    assert marks.find_latest(["brand"]) == 0


@pytest.mark.usefixtures("initialized_marks")
def test_unrecorded_commits_are_recorded_for_all_names_after_an_outage(monkeypatch):
    monkeypatch.setattr("api.edge.replica.commit_positions._PAUSE_S", 3600)
    marks = CommitPositions(_URL, keep_s=60)
    unreachable = CommitPositions("unix:///nowhere/valkey.sock?db=0", keep_s=60)
    connected, marks._redis = marks._redis, unreachable._redis
    marks.record(["brand"], 77)
    assert marks.find_latest(["another"]) is None
    marks._redis = connected

    assert marks.find_latest(["another"]) is None  # the server is not called during the pause
    marks._paused_until = 0.0
    assert marks.find_latest(["another"]) == 77
    assert CommitPositions(_URL, keep_s=60).find_latest(["stranger"]) == 77
