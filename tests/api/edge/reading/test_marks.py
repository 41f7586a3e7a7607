"""Who wrote is known to all processes for a while, and nobody is believed who cannot know."""

import os

import pytest

from adapters import broker
from api.edge.reading.marks import Marks

_URL = os.environ["REDIS_URL"]

pytestmark = pytest.mark.usefixtures("app")


@pytest.fixture
def _known():
    broker.client(_URL).set("{finderfee:reads}:known", 1)


@pytest.mark.usefixtures("_known")
def test_the_latest_commit_of_any_name_counts_whoever_marked_it():
    one, other = Marks(_URL, keep_s=60), Marks(_URL, keep_s=60)
    one.put(["brand"], 0x1F_0000_0000)
    other.put(["brand", "affiliate"], 0x2_0000_0000)

    assert one.latest(["brand"]) == 0x1F_0000_0000
    assert one.latest(["affiliate"]) == other.latest(["affiliate", "nobody"]) == 0x2_0000_0000
    assert one.latest(["nobody"]) == 0
    assert 0 < broker.client(_URL).ttl("{finderfee:reads}:brand") <= 60


def test_a_server_that_was_emptied_is_not_believed_until_every_mark_would_have_ended():
    marks = Marks(_URL, keep_s=60)

    assert marks.latest(["brand"]) is None
    assert marks.latest(["brand"]) is None
    assert 0 < broker.client(_URL).ttl("{finderfee:reads}:new") <= 60
    broker.client(_URL).delete("{finderfee:reads}:new")  # as it does by itself
    assert marks.latest(["brand"]) == 0


@pytest.mark.usefixtures("_known")
def test_what_could_not_be_marked_is_marked_for_everybody_before_anything_is_believed(monkeypatch):
    monkeypatch.setattr("api.edge.reading.marks._LEAVE_ALONE_S", 3600)
    marks = Marks(_URL, keep_s=60)
    away = Marks("unix:///nowhere/valkey.sock?db=0", keep_s=60)
    usual, marks._wire = marks._wire, away._wire
    marks.put(["brand"], 77)
    assert marks.latest(["another"]) is None
    marks._wire = usual

    assert marks.latest(["another"]) is None  # it is left alone for a while
    marks._away_until = 0.0
    assert marks.latest(["another"]) == 77
    assert Marks(_URL, keep_s=60).latest(["stranger"]) == 77
