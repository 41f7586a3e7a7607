"""A scripted model, and conversations of a user with it."""

from dataclasses import dataclass

import pytest

from tests.support.job_queues import drain
from tests.support.outside import model as models
from tests.support.outside.model import ScriptedModel
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings

CONVERSATIONS = "/api/v1/copilot/conversations"


@dataclass
class Conversation:
    """A user's conversation with the co-pilot; each question runs until the user has to act."""

    person: Brand
    model: ScriptedModel
    id: str = ""

    def ask(self, text="Well?"):
        path = f"{CONVERSATIONS}/{self.id}/messages" if self.id else CONVERSATIONS
        answer = self.person.post(path, {"text": text})
        assert answer.status_code in (200, 201), answer.text
        self.id = answer.json["id"]
        return self.advance()

    def advance(self):
        """Run the worker and the page's polling until the model has answered or waits for the user."""
        for _ in range(40):
            drain("copilot")
            conversation = self.person.post(f"{CONVERSATIONS}/{self.id}/steps").json
            if conversation["state"] not in ("Thinking", "Working"):
                return conversation
        raise AssertionError(conversation["state"])

    def decide(self, decision, act_id=None):
        act_id = act_id or self.fetch()["acts"][-1]["id"]
        return self.person.post(f"{CONVERSATIONS}/{self.id}/acts/{act_id}/{decision}")

    def fetch(self):
        return self.person.get(f"{CONVERSATIONS}/{self.id}").json


@pytest.fixture
def model(monkeypatch):
    """An HTTP endpoint that answers as a script says."""
    with models.play_model() as scripted_model:
        override_settings(
            monkeypatch, copilot={"url": scripted_model.url, "key": "sesame", "model": "scripted", "timeout_s": 60}
        )
        yield scripted_model


@pytest.fixture
def start_conversation(brand, model):
    """Return a function that starts a conversation of a user of the brand."""

    def start(role="Owner", owner=brand):
        return Conversation(owner.person(role), model)

    return start
