"""Round trips of a tool call equal those of its operation."""

import settings
from tests.support.api.agents import Agent
from tests.support.api.lists import count_round_trips


def test_tool_call_takes_the_round_trips_of_its_operation(brand, monkeypatch):
    brand.program()
    agent = Agent(brand, is_modern=False)
    monkeypatch.setenv("KEY_CACHE_S", "60")
    settings.current.cache_clear()
    try:
        brand.get("/api/v1/affiliates"), agent.call("list_affiliates")
        by_rest = count_round_trips(lambda: brand.get("/api/v1/affiliates?take=20"))
        by_tool = count_round_trips(lambda: agent.call("list_affiliates"))
    finally:
        monkeypatch.undo()
        settings.current.cache_clear()

    assert by_tool == by_rest > 0
