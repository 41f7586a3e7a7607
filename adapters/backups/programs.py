"""Runs PostgreSQL's backup programs and passes on every line of their output."""

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import settings
from adapters.embedded import data_folder, runners


class ProgramFailed(Exception):
    """A program is missing or failed; the message is the end of its output."""


def require_version(major: int) -> None:
    """Raise ProgramFailed unless the programs have the server's major version: others cannot read its log."""
    output = subprocess.run(
        [str(_programs_folder() / "pg_verifybackup"), "--version"], capture_output=True, text=True
    ).stdout
    match = re.search(r"\) (\d+)", output)
    if match is None or int(match[1]) != major:
        raise ProgramFailed(
            f"{_programs_folder()} has PostgreSQL's programs of version {match[1] if match else 'unknown'}, and the"
            f" server has {major}. Nothing was changed. Next: set POSTGRES_PROGRAMS to a folder with version {major}."
        )


def run(command: Sequence[str], *, report: Callable[[str], None]) -> None:
    """Run one of the programs until it ends, as this user. Raises ProgramFailed, OSError."""
    name, *arguments = command
    output: list[str] = []
    process = subprocess.Popen(
        [str(_programs_folder() / name), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=data_folder.server_environment(),
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            output.append(line.strip())
            report(line.strip())
    except BaseException:
        process.terminate()  # an abandoned backup is useless
        raise
    finally:
        code = process.wait()
    if code != 0:
        raise ProgramFailed(f"{name}: {' '.join(output[-3:]) or f'exit status {code}'}")


def _programs_folder() -> Path:
    folder = settings.current().servers.postgres_programs
    if folder is not None:
        return folder
    try:
        return runners.find_programs()
    except data_folder.ServerNotStarted as failure:
        raise ProgramFailed(
            "PostgreSQL's programs are not installed. Next: install PostgreSQL's client package of the server's major"
            " version and set POSTGRES_PROGRAMS to its folder, such as /usr/lib/postgresql/18/bin."
        ) from failure
