"""A gateway played for a test: the service's settings lead to it; and the calls by which a brand connects it."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

import settings
from domain.gateways.names import Gateway
from tests.support.gateways.stage import Stage
from tests.support.gateways.stages import STAGES
from tests.support.rows.brands import Brand


@contextmanager
def played(name: str = "stripe") -> Iterator[Stage]:
    """Play a gateway on a port of this machine, and have the service call it there."""
    playing = STAGES[name]()
    with pytest.MonkeyPatch.context() as patch:
        lead_to(playing, patch)
        yield playing
    playing.stop()


def lead_to(playing: Stage, patch: pytest.MonkeyPatch) -> None:
    """Have the service call one gateway at its stage, until the patch ends."""
    known = settings.current()
    urls = dict.fromkeys(Gateway) | {playing.gateway.name: playing.url}
    chosen = dataclasses.replace(known, gateways=dataclasses.replace(known.gateways, urls=urls))
    patch.setattr(settings, "current", lambda: chosen)


def wanted(stage: Stage, **fields: Any) -> dict[str, Any]:
    """Return the body that connects a played gateway."""
    return {"gateway": stage.gateway.name, "mode": stage.mode, "credentials": dict(stage.credentials)} | fields


def connected(owner: Brand, stage: Stage, **fields: Any) -> dict[str, Any]:
    """Connect a played gateway and return the answer. What is bought there from now on was bought after that."""
    answer = owner.post("/api/v1/connections", wanted(stage, **fields))
    assert answer.status_code == 201, answer.get_data(as_text=True)
    stage.now = max(stage.now, datetime.now(UTC))
    return dict(answer.json or {})
