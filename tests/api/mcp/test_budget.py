"""Round trips of a tool call equal those of its operation."""

import settings
from tests.support.api.agents import Agent
from tests.support.api.lists import trips_of


def test_tool_call_takes_the_round_trips_of_its_operation(brand, monkeypatch):
    brand.program()
    agent = Agent(brand, is_modern=False)
    monkeypatch.setenv("KEY_CACHE_S", "60")
    settings.current.cache_clear()
    try:
        brand.get("/api/v1/affiliates"), agent.call("list_affiliates")
        by_rest = trips_of(lambda: brand.get("/api/v1/affiliates?take=20"))
        by_tool = trips_of(lambda: agent.call("list_affiliates"))
    finally:
        monkeypatch.undo()
        settings.current.cache_clear()

    assert by_tool == by_rest > 0
