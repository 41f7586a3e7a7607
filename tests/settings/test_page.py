"""The page of `python -m settings`, and secrets in the text of the settings."""

import settings
from settings.__main__ import page
from settings.table import NamedValues

_SECRETS = (
    "DATABASE_OWNER_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "SECRET_KEY_PREVIOUS",
    "METRICS_TOKEN",
    "FRAUD_SCORER_TOKEN",
)


def test_page_prints_defaults_in_their_written_form():
    for row in (
        "| `PORT` | `8000` | where the web server listens |",
        "| `WEBHOOK_ATTEMPTS_AT_S` | `0,60,120,240,480` | when the attempts are made, after the event |",
        "| `METRICS_TOKEN` | none | bearer for `/metrics`; without it only this machine may read them |",
    ):
        assert row in page().splitlines()
    assert "| `mail` | `4` | messages |" in page().splitlines()
    assert "| `upkeep` | `default` |" in page()
    assert "| `WEBHOOK_ALLOW_PRIVATE` | `off` |" in page()
    assert "| `PUBLIC_BASE_URL` | `http://127.0.0.1:PORT` |" in page()


def test_text_of_settings_contains_no_secret():
    secrets = {name: f"s3cret of {name} with more than thirty-two characters" for name in _SECRETS}
    chosen = settings.read(secrets | {"REDIS_URL": "redis://:s3cret@h", "BROKER_URL": "amqp://u:s3cret@h"})

    assert "s3cret" not in repr(chosen)


def test_there_are_few_enough_variables_to_read_them_all():
    names = [variable.name for variable in settings.variables()]

    assert len(names) == len(set(names)) <= 105
    assert page().count("\n| `") - sum(page().count(f"\n| `{name}` |") for name in names) == sum(
        len(variable.members) for variable in settings.variables() if isinstance(variable, NamedValues)
    )
