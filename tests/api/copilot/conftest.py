"""A scripted model, and a person who talks to it."""

from dataclasses import dataclass

import pytest

from tests.support.job_queues import drain
from tests.support.outside import model as models
from tests.support.outside.model import ScriptedModel
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings

HERE = "/api/v1/copilot/conversations"


@dataclass
class Talk:
    """A person at the co-pilot: what they ask is answered as far as it goes without them."""

    person: Brand
    model: ScriptedModel
    id: str = ""

    def ask(self, text="Well?"):
        path = f"{HERE}/{self.id}/messages" if self.id else HERE
        answer = self.person.post(path, {"text": text})
        assert answer.status_code in (200, 201), answer.text
        self.id = answer.json["id"]
        return self.go_on()

    def go_on(self):
        """Let worker and page go on until it is somebody's turn."""
        for _ in range(40):
            drain("copilot")
            found = self.person.post(f"{HERE}/{self.id}/steps").json
            if found["state"] not in ("Thinking", "Working"):
                return found
        raise AssertionError(found["state"])

    def decide(self, word, act_id=None):
        act_id = act_id or self.shown()["acts"][-1]["id"]
        return self.person.post(f"{HERE}/{self.id}/acts/{act_id}/{word}")

    def shown(self):
        return self.person.get(f"{HERE}/{self.id}").json


@pytest.fixture
def model(monkeypatch):
    """The model's endpoint."""
    with models.play_model() as played:
        override_settings(
            monkeypatch, copilot={"url": played.url, "key": "sesame", "model": "scripted", "timeout_s": 60}
        )
        yield played


@pytest.fixture
def talk(brand, model):
    """What opens a conversation as a person of the brand."""

    def begin(role="Owner", owner=brand):
        return Talk(owner.person(role), model)

    return begin
