"""Commands do not import modules that only the service needs; the service imports all of them before it forks."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands.registry import COMMANDS

_ROOT = Path(__file__).parents[2]
# Each takes 20 to 200 milliseconds to import.
_HEAVY_MODULES = {
    *("api.web", "crawlerdetect", "disposable_email_domains", "dns", "dramatiq", "email_validator"),
    *("joserfc", "limits", "marshmallow", "nh3", "prometheus_client", "redis", "requests", "stripe"),
}
_PRINT_HEAVY_MODULES = f"print(sorted({_HEAVY_MODULES!r} & set(sys.modules)))"
_COMMAND = """
import sys
from click.exceptions import ClickException
from flask.cli import cli
try:
    cli.main({arguments}, standalone_mode=False)
except ClickException as not_running:
    assert "is not running on this machine" in not_running.message
"""


def _run_script(script: str, tmp_path: Path) -> str:
    environment = {"DATA_DIR": str(tmp_path / "none"), "FLASK_APP": "app:create_app"}
    process = subprocess.run([sys.executable, "-c", script], cwd=_ROOT, env=environment, capture_output=True, text=True)
    assert process.stderr == ""
    return process.stdout.strip()


def test_application_of_a_command_loads_no_heavy_module(tmp_path):
    assert _run_script(f"import sys, app; {_PRINT_HEAVY_MODULES}", tmp_path) == "[]"


@pytest.mark.parametrize("arguments", [["org", "list"], ["jobs", "queues"], ["key", "list", "--org", "0" * 32]])
def test_command_loads_no_module_of_the_service(tmp_path, arguments):
    assert _run_script(_COMMAND.format(arguments=arguments) + _PRINT_HEAVY_MODULES, tmp_path) == "[]"


def test_command_loads_no_other_command(tmp_path):
    loaded = "print(*sorted(name for name in sys.modules if name.count('.') == 2 and name.startswith('commands.')))"

    assert (
        _run_script(_COMMAND.format(arguments=["org", "list"]) + loaded, tmp_path)
        == "commands.organization.organizations"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_registered_command_resolves(app, name):
    assert pkgutil.resolve_name(COMMANDS[name]).name == name


def test_service_does_not_load_rich_for_its_log(tmp_path):
    as_gunicorn = "import runpy, sys; runpy.run_path('gunicorn.conf.py'); import api.server.worker, app"

    assert _run_script(f"{as_gunicorn}\nprint(sys.modules['structlog.dev'].rich)", tmp_path) == "None"


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("commands.service.up", {"asyncio", "dramatiq", "flask", "peewee", "psycopg2", "redis", "structlog"}),
        ("adapters.embedded.watchdog", {"asyncio", "click", "concurrent", "settings", "structlog"}),
        ("commands.demo.servers", {"flask", "httpx", "peewee", "psycopg2", "redis", "rich"}),
    ],
)
def test_supervising_process_loads_few_modules(tmp_path, module, forbidden):
    assert _run_script(f"import sys, {module}; print(sorted({forbidden!r} & set(sys.modules)))", tmp_path) == "[]"


def test_service_loads_no_optional_dependency(tmp_path):
    forbidden = {"httpx", "opentelemetry.sdk", "pygments", "rich"}
    as_gunicorn = (
        "import runpy, sys; runpy.run_path('gunicorn.conf.py'); import api.server.worker, app; app.create_app()"
    )

    assert _run_script(f"{as_gunicorn}; print(sorted({forbidden!r} & set(sys.modules)))", tmp_path) == "[]"


def test_service_loads_its_modules_before_forking(tmp_path):
    missing = f"sorted(({_HEAVY_MODULES!r} - {{'dramatiq'}}) - set(sys.modules))"
    report = f"print({missing}, len(list(app.url_map.iter_rules())) > 50)"

    assert _run_script(f"import sys; from app import create_app; app = create_app(); {report}", tmp_path) == "[] True"
