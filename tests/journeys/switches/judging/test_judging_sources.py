"""Judging what every source answers: its figures equal the rows, and no row is odd without a reason."""

from contextlib import ExitStack
from decimal import Decimal

import orjson
import pytest

from commands.demo.played import lemonsqueezy
from commands.demo.played.sample import Sample
from domain.switches.options import AssumedCommission
from domain.switches.sources import Collection
from models import db
from pipelines import credentials
from tests.support.rows.brands import Brand
from tests.support.switches import walking
from tests.support.switches.scene import SwitchScene
from tests.support.switches.walking import PLAYED, Walk


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


def _judge(brand: Brand, monkeypatch, walk: Walk):
    """Store what a walk brought as a switch that was read, judge it and return the preview."""
    program_id = brand.program()
    scene = SwitchScene.create(
        brand,
        monkeypatch,
        campaigns=dict.fromkeys(walk.context.campaigns, program_id),
        options=walk.context.options.to_json(),
        source=walk.source.info.name.value,
    )
    scene.change(credentials_sealed=credentials.seal(walk.context.credentials, scene.id))
    with db.unit_of_work(brand.id):
        for campaign, currency in walk.context.currencies.items():
            db.db.stage(
                "update switch_campaign set terms = %s where switch_id = %s and source_id = %s",
                (db.Json({"commission_currency": currency}), scene.id, campaign),
            )
    for collection in Collection:
        for is_mention in (False, True):
            rows = [
                (row.source_id, orjson.loads(orjson.dumps(dict(row.data))))
                for row in walk.rows.values()
                if row.collection == collection and row.is_mention == is_mention
            ]
            if rows:
                scene.read_raw(collection, rows, is_mention=is_mention)
    for (name, subject, currency), value in walk.figures.items():
        scene.state_figure(name, value, subject=subject, currency=currency)
    return scene.judge()


@pytest.mark.parametrize("source", PLAYED)
def test_preview_equals_the_figures_of_the_source(app, brand, monkeypatch, stack, source):
    options = {"assumed_commission": AssumedCommission("Percentage", Decimal(lemonsqueezy.PERCENT))}
    # Both pay affiliates in USD, whatever customers pay in; the played accounts sum up all currencies.
    sample = Sample(currencies=("USD",)) if source in ("dub", "lemonsqueezy") else Sample()
    walk = walking.start(stack, source, sample, **options if source == "lemonsqueezy" else {}).walk()

    preview = _judge(brand, monkeypatch, walk)

    assert preview["figures"]
    assert [figure for figure in preview["figures"] if figure["difference"]] == []
    assert preview["counts"]["affiliates"]["new"] > 0
    assert preview["counts"]["commissions"]["new"] > 0
    reasons = {row["reason"] for row in preview["left_out"]}
    assert not reasons & {"unreadable_row", "unknown_status", "unsupported_currency", "amount_out_of_range"}
    for money in preview["money"]:
        kinds = ("paid_cents", "owed_cents", "pending_cents", "lost_cents")
        assert money["commission_cents"] == sum(money[kind] for kind in kinds)
    for counts in preview["counts"].values():
        assert counts["read"] == sum(counts.values()) - counts["read"]
