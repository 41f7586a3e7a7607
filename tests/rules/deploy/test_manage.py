"""deploy/manage, and the example settings that it reads."""

import subprocess
from pathlib import Path

import settings
from tests.support import trees

_DEPLOY = trees.ROOT / "deploy"
_PRINTING_FLASK = '#!/bin/sh\nprintf "argument %s\\n" "$@"\npwd\nenv\n'


def _run_manage(folder: Path, settings_text: str | None) -> subprocess.CompletedProcess[str]:
    """Run a copy of deploy/manage whose flask prints its arguments and environment."""
    for path, text in (("deploy/manage", (_DEPLOY / "manage").read_text()), (".venv/bin/flask", _PRINTING_FLASK)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        (folder / path).chmod(0o755)
    file = folder / "finderfee.env"
    if settings_text is not None:
        file.write_text(settings_text)
    environment = {"PATH": "/usr/bin:/bin", "SETTINGS_FILE": str(file)}
    command = [folder / "deploy/manage", "org", "list", "two words"]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True)


def test_manage_runs_a_command_with_the_settings_of_the_units(tmp_path):
    example = (_DEPLOY / "compose/finderfee.env.example").read_text()
    more = "QUOTED=\"a b\"\nSINGLE='$(id)'\nPLAIN=$(id) `id` <x> ; id\n# COMMENT=1\nnot a setting\nLAST=no line end"

    lines = _run_manage(tmp_path, example + more).stdout.splitlines()

    assert lines[:4] == ["argument org", "argument list", "argument two words", str(tmp_path)]
    assert "MAIL_FROM=Acme Partners <partners@acme.example>" in lines
    assert "TRUSTED_PROXIES=1" in lines
    assert {"QUOTED=a b", "SINGLE=$(id)", "PLAIN=$(id) `id` <x> ; id", "LAST=no line end"} <= set(lines)
    assert {"FLASK_APP=app:create_app", "DATA_DIR=/run/finderfee"} <= set(lines)
    assert not [line for line in lines if "COMMENT" in line]


def test_manage_without_readable_settings_says_how_to_run_it(tmp_path):
    result = _run_manage(tmp_path, None)

    assert (result.returncode, result.stdout) == (66, "")
    assert "finderfee.env is missing" in result.stderr
    assert "sudo -u finderfee" in result.stderr


def test_example_settings_are_valid_once_the_secrets_are_filled_in():
    lines = [
        line.partition("=")
        for name in ("finderfee", "owner")
        for line in (_DEPLOY / f"compose/{name}.env.example").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    filled = {name: value for name, _, value in lines} | {
        "SECRET_KEY": "Vp8mJt0cQhX5zYw2nR7sLk1dF9gB4aE6uT3iO0pS8vM=",
        "SMTP_URL": "smtp://user:password@mail.acme.example:587",
    }

    config = settings.read(filled)

    assert config.web.url == "https://affiliates.acme.example"
    assert (config.web.processes, config.web.trusted_proxies) == (1, 1)
    assert config.mail.sender == "Acme Partners <partners@acme.example>"
