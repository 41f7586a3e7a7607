"""`flask demo switch` plays a source and switches the demo brand from it, while the installation runs its jobs."""

import json
from uuid import UUID

import click
import pytest

from app import create_app
from commands.demo import switch_trial
from models import db
from tests.support.job_queues import drain
from tests.support.running import ports
from tests.support.settings_overrides import override_settings


@pytest.fixture
def flask(app, tmp_path, monkeypatch):
    """Run a command in the application of `flask`; its pauses run the queued jobs, as the installation's workers do."""
    override_settings(monkeypatch, servers={"data_dir": tmp_path / "data"}, web={"port": 8123})
    monkeypatch.setattr(switch_trial.time, "sleep", lambda seconds: drain())
    with click.Context(click.Group("flask")):
        command_app = create_app()

    def run(*arguments: str, **options):
        with command_app.app_context():
            return command_app.test_cli_runner().invoke(args=arguments, **options)

    return run


@pytest.fixture
def start_server(flask, monkeypatch):
    """Set the address of each source to a free port of this machine, which workers call without a pause."""
    with ports.hold_port() as port:
        address = f"http://127.0.0.1:{ports.port_number(port)}"
    names = {f"{name}_base_url": address for name in switch_trial.SOURCES}
    override_settings(monkeypatch, switches={**names, "requests_per_s": 0.0})


def _read_brand(flask) -> UUID:
    return UUID(json.loads(flask("demo", "--json").output)["organizationId"])


def _list_switches(organization_id: UUID) -> list[tuple[str, str]]:
    with db.unit_of_work(organization_id):
        return db.db.run("select source, state from switch where organization_id = %s", (organization_id,))


@pytest.mark.parametrize("source", switch_trial.SOURCES)
def test_switch_runs_and_reports_its_result(flask, start_server, source):
    result = flask("demo", "switch", source, "--affiliates", "10", "--yes")

    assert result.exit_code == 0, result.output
    assert "Completed" in result.output
    assert "figures of the source were compared" in result.output
    assert "/dashboard/switch/" in result.output
    organization_id = _read_brand(flask)
    assert _list_switches(organization_id) == [(source, "Completed")]
    with db.unit_of_work(organization_id):
        brought = db.db.row("select count(*) from conversion where switch_id is not null")
    assert brought == (100,)


def test_declined_preview_cancels_the_switch(flask, start_server):
    result = flask("demo", "switch", "tolt", input="n\n")

    assert result.exit_code == 0, result.output
    assert "Nothing was written" in result.output
    assert _list_switches(_read_brand(flask)) == [("tolt", "Cancelled")]


def test_played_account_is_connected_by_its_user(flask, start_server, monkeypatch):
    def stop(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(switch_trial.time, "sleep", stop)

    result = flask("demo", "switch", "firstpromoter", "--play")

    assert result.exit_code == 0, result.output
    assert "/dashboard/switch/new?source=firstpromoter" in result.output
    assert "API key" in result.output
    assert "Account ID" in result.output
    assert _list_switches(_read_brand(flask)) == []


@pytest.mark.parametrize("address", [None, "https://api.example.com", "http://192.0.2.1:80", "http://127.0.0.1"])
def test_address_of_another_machine_is_refused_with_the_setting_to_use(flask, monkeypatch, address):
    override_settings(monkeypatch, switches={"tolt_base_url": address})

    result = flask("demo", "switch", "tolt", "--yes")

    assert result.exit_code == 1
    assert "SWITCH_TOLT_BASE_URL=http://127.0.0.1:8126 make run" in result.output


def test_unknown_source_is_a_usage_error(flask):
    assert flask("demo", "switch", "files").exit_code == 2


def test_demo_without_a_subcommand_shows_the_brand(flask):
    facts = json.loads(flask("demo", "--json", "--show-secrets").output)

    assert facts["apiKey"].startswith("ff_live_")
