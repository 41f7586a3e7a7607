"""What an operator types, run in this process."""

import json
from typing import Any

from click.testing import Result


class Operator:
    """Runs commands of an application, word by word as they are typed after `flask`."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(self, *words: object, input: str | None = None) -> tuple[int, str]:
        """Run a command, with `input` typed into it, and return its exit code and all that it said."""
        done = self._run(*words, input=input)
        return done.exit_code, done.output

    def json(self, *words: object, code: int = 0) -> Any:
        """Run a command with --json, check its exit code and return its one document."""
        done = self._run(*words, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def _run(self, *words: object, input: str | None = None) -> Result:
        done: Result = self._app.test_cli_runner().invoke(args=[str(word) for word in words], input=input)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done
