"""Operator commands, run in this process."""

import json
from typing import Any

from click.testing import Result


class Operator:
    """Runs commands of an application; each argument is a word that an operator types after `flask`."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def __call__(self, *words: object, input: str | None = None) -> tuple[int, str]:
        """Run a command, with `input` typed into it, and return its exit code and output."""
        result = self._run(*words, input=input)
        return result.exit_code, result.output

    def json(self, *words: object, code: int = 0) -> Any:
        """Run a command with --json, check its exit code and return its JSON document."""
        result = self._run(*words, "--json")
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    def _run(self, *words: object, input: str | None = None) -> Result:
        result: Result = self._app.test_cli_runner().invoke(args=[str(word) for word in words], input=input)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result
