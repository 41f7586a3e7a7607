"""A command does not wait for what only the service needs; the service has all of it before it is forked."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands.registry import COMMANDS

_ROOT = Path(__file__).parents[2]
# Each takes from a fiftieth of a second to a fifth to load.
_HEAVY = {
    *("api.web", "crawlerdetect", "disposable_email_domains", "dns", "dramatiq", "email_validator"),
    *("joserfc", "limits", "marshmallow", "nh3", "prometheus_client", "redis", "requests", "stripe"),
}
_LOADED = f"print(sorted({_HEAVY!r} & set(sys.modules)))"
_COMMAND = """
import sys
from click.exceptions import ClickException
from flask.cli import cli
try:
    cli.main({arguments}, standalone_mode=False)
except ClickException as asleep:
    assert "is not running on this machine" in asleep.message
"""


def _said(script: str, tmp_path: Path) -> str:
    environment = {"DATA_DIR": str(tmp_path / "none"), "FLASK_APP": "app:create_app"}
    done = subprocess.run([sys.executable, "-c", script], cwd=_ROOT, env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_application_of_a_command_is_light(tmp_path):
    assert _said(f"import sys, app; {_LOADED}", tmp_path) == "[]"


@pytest.mark.parametrize("arguments", [["org", "list"], ["jobs", "queues"], ["key", "list", "--org", "0" * 32]])
def test_a_command_loads_nothing_that_only_the_service_needs(tmp_path, arguments):
    assert _said(_COMMAND.format(arguments=arguments) + _LOADED, tmp_path) == "[]"


def test_a_command_loads_no_other_command(tmp_path):
    loaded = "print(*sorted(name for name in sys.modules if name.count('.') == 2 and name.startswith('commands.')))"

    assert _said(_COMMAND.format(arguments=["org", "list"]) + loaded, tmp_path) == "commands.organization.organizations"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_where_the_list_says(app, name):
    assert pkgutil.resolve_name(COMMANDS[name]).name == name


def test_the_service_has_no_printer_of_commands_for_its_log(tmp_path):
    as_gunicorn = "import runpy, sys; runpy.run_path('gunicorn.conf.py'); import api.server.worker, app"

    assert _said(f"{as_gunicorn}\nprint(sys.modules['structlog.dev'].rich)", tmp_path) == "None"


@pytest.mark.parametrize(
    ("module", "needless"),
    [
        ("commands.service.up", {"asyncio", "dramatiq", "flask", "peewee", "psycopg2", "redis", "structlog"}),
        ("adapters.embedded.watchdog", {"asyncio", "click", "concurrent", "settings", "structlog"}),
        ("commands.demo.servers", {"flask", "httpx", "peewee", "psycopg2", "redis", "rich"}),
    ],
)
def test_what_only_waits_loads_next_to_nothing(tmp_path, module, needless):
    assert _said(f"import sys, {module}; print(sorted({needless!r} & set(sys.modules)))", tmp_path) == "[]"


def test_the_service_loads_nothing_that_its_libraries_would_only_try(tmp_path):
    needless = {"httpx", "opentelemetry.sdk", "pygments", "rich"}
    as_gunicorn = (
        "import runpy, sys; runpy.run_path('gunicorn.conf.py'); import api.server.worker, app; app.create_app()"
    )

    assert _said(f"{as_gunicorn}; print(sorted({needless!r} & set(sys.modules)))", tmp_path) == "[]"


def test_the_service_has_what_it_needs_before_it_is_forked(tmp_path):
    missing = (
        f"print(sorted(({_HEAVY!r} - {{'dramatiq'}}) - set(sys.modules)), len(list(app.url_map.iter_rules())) > 50)"
    )

    assert _said(f"import sys; from app import create_app; app = create_app(); {missing}", tmp_path) == "[] True"
