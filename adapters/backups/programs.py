"""Runs PostgreSQL's own programs for copies of a server, with every line that they say passed on."""

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import settings
from adapters.embedded import places, runners


class ProgramFailed(Exception):
    """A program is not here, or ended with an error; the message is the last of what it said."""


def need(major: int) -> None:
    """Raise ProgramFailed unless the programs are of a server's major version: only those read its log."""
    said = subprocess.run([str(_folder() / "pg_verifybackup"), "--version"], capture_output=True, text=True).stdout
    found = re.search(r"\) (\d+)", said)
    if found is None or int(found[1]) != major:
        raise ProgramFailed(
            f"{_folder()} has PostgreSQL's programs of version {found[1] if found else 'unknown'}, and the server's is"
            f" {major}; name a folder with those of version {major} in POSTGRES_PROGRAMS. Nothing was changed."
        )


def run(command: Sequence[str], *, tell: Callable[[str], None]) -> None:
    """Run one of the programs to its end, as this user. Raises ProgramFailed, OSError."""
    name, *arguments = command
    said: list[str] = []
    process = subprocess.Popen(
        [str(_folder() / name), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=places.environment(),
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            said.append(line.strip())
            tell(line.strip())
    except BaseException:
        process.terminate()  # a copy that nobody waits for is none
        raise
    finally:
        code = process.wait()
    if code != 0:
        raise ProgramFailed(f"{name}: {' '.join(said[-3:]) or f'exit status {code}'}")


def _folder() -> Path:
    chosen = settings.current().servers.postgres_programs
    if chosen is not None:
        return chosen
    try:
        return runners.programs()
    except places.DidNotStart as failure:
        raise ProgramFailed(
            "PostgreSQL's programs are not installed here. Install PostgreSQL's client package of the server's major"
            " version and name its folder in POSTGRES_PROGRAMS, such as /usr/lib/postgresql/18/bin."
        ) from failure
