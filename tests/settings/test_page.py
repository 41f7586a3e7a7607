"""What `python -m settings` prints, and that no secret shows in the text of the settings."""

import settings
from settings.__main__ import page

_SECRETS = (
    "DATABASE_OWNER_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "SECRET_KEY_PREVIOUS",
    "METRICS_TOKEN",
    "FRAUD_SCORER_TOKEN",
)


def test_every_default_is_printed_as_an_operator_writes_it():
    for row in (
        "| `PORT` | `8000` | where the web server listens |",
        "| `WEBHOOK_ATTEMPTS_AT_S` | `0,60,120,240,480` | when the attempts go out, after the event |",
        "| `METRICS_TOKEN` | none | bearer for `/metrics`; without it only this machine may read |",
    ):
        assert row in page().splitlines()
    assert "| `WEBHOOK_ALLOW_PRIVATE` | `off` |" in page()
    assert "| `PUBLIC_BASE_URL` | `http://127.0.0.1:PORT` |" in page()


def test_no_secret_shows_in_the_text_of_the_settings():
    told = {name: f"s3cret of {name} with more than thirty-two characters" for name in _SECRETS}
    chosen = settings.read(told | {"REDIS_URL": "redis://:s3cret@h", "BROKER_URL": "amqp://u:s3cret@h"})

    assert "s3cret" not in repr(chosen)
