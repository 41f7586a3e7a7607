"""The example request of an operation in Python and JavaScript, from its entry in the OpenAPI document.

An operation that an API key may call is a call of our own clients (`integrations/python`, `integrations/javascript`);
any other is a plain request.
"""

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from api.description.commands import BEARERS, required_query

#: The callers for whom our clients have a method.
_CLIENT_CALLERS = ("brand", "signed")
_PARAMETER = re.compile(r"\{([^}]*)\}")
_WIDTH = 76


def python_call(operation: Mapping[str, Any], method: str, path: str, *, base_url: str) -> str:
    """Return the request in Python; values of the path are variables."""
    body = _example(operation)
    if operation["x-callers"] in _CLIENT_CALLERS:
        arguments = [_snake_case(name) for name in _PARAMETER.findall(path)]
        arguments += [] if body is None else [_PYTHON.literal(body)]
        arguments += [f"{_snake_case(name)}={value!r}" for name, value in required_query(operation)]
        return _call(
            f"client.{_snake_case(_tag(operation))}.{_snake_case(operation['operationId'])}", arguments, _PYTHON
        )
    address = _PARAMETER.sub(lambda match: "{" + _snake_case(match[1]) + "}", _address(operation, path, base_url))
    arguments = [("f" if "{" in address else "") + json.dumps(address)]
    bearer = BEARERS.get(operation["x-callers"])
    if bearer is not None:
        arguments.append(f'headers={{"Authorization": f"Bearer {{{bearer[1:]}}}"}}')
    if body is not None:
        arguments.append(f"json={_PYTHON.literal(body)}")
    return "import requests\n\n" + _call(f"response = requests.{method.lower()}", arguments, _PYTHON)


def javascript_call(operation: Mapping[str, Any], method: str, path: str, *, base_url: str) -> str:
    """Return the request in JavaScript; values of the path are variables."""
    body = _example(operation)
    if operation["x-callers"] in _CLIENT_CALLERS:
        arguments = _PARAMETER.findall(path)
        arguments += [] if body is None else [_JAVASCRIPT.literal(body)]
        query = dict(required_query(operation))
        arguments += [_JAVASCRIPT.literal(query)] if query else []
        return _call(f"await client.{_camel_case(_tag(operation))}.{operation['operationId']}", arguments, _JAVASCRIPT)
    address = _PARAMETER.sub(r"${\1}", _address(operation, path, base_url))
    options = [] if method == "GET" else [f'method: "{method}"']
    headers = []
    bearer = BEARERS.get(operation["x-callers"])
    if bearer is not None:
        headers.append(f"Authorization: `Bearer ${{{bearer[1:]}}}`")
    if body is not None:
        headers.append('"Content-Type": "application/json"')
    options += [f"headers: {{ {', '.join(headers)} }}"] if headers else []
    options += [f"body: JSON.stringify({_JAVASCRIPT.literal(body)})"] if body is not None else []
    quote = "`" if "${" in address else '"'
    arguments = [f"{quote}{address}{quote}"]
    if options:
        arguments.append("{\n" + "".join(f"{_JAVASCRIPT.indent(option)},\n" for option in options) + "}")
    return f"const response = await fetch({', '.join(arguments)});"


def _example(operation: Mapping[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("example")


def _tag(operation: Mapping[str, Any]) -> str:
    return str(operation["tags"][0])


def _address(operation: Mapping[str, Any], path: str, base_url: str) -> str:
    query = dict(required_query(operation))
    return f"{base_url}{path}" + (f"?{urlencode(query)}" if query else "")


def _call(function: str, arguments: Sequence[str], language: "_Language") -> str:
    """Return a call in one line if it fits, else with one argument a line; a single argument stays in the brackets."""
    line = f"{function}({', '.join(arguments)}){language.end}"
    if len(arguments) == 1 or (len(line) <= _WIDTH and "\n" not in line):
        return line
    rows = "".join(f"{language.indent(argument)},\n" for argument in arguments)
    return f"{function}(\n{rows}){language.end}"


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language writes values: its constants, the space within braces, and whether names need quotes."""

    constants: Mapping[bool | None, str]
    step: str
    space: str
    quotes_names: bool
    end: str

    def literal(self, value: Any) -> str:
        """Return a value of JSON as a literal, in several lines if it is long."""
        if value is None or isinstance(value, bool):
            return self.constants[value]
        if isinstance(value, dict):
            rows = [f"{self._name(name)}: {self.literal(item)}" for name, item in value.items()]
            return self._join(rows, "{}", self.space)
        if isinstance(value, list):
            return self._join([self.literal(item) for item in value], "[]", "")
        return json.dumps(value, ensure_ascii=False)

    def indent(self, text: str) -> str:
        """Return a text one step further to the right."""
        return "\n".join(self.step + line for line in text.split("\n"))

    def _name(self, name: str) -> str:
        return json.dumps(name) if self.quotes_names or not name.isidentifier() else name

    def _join(self, rows: list[str], brackets: str, space: str) -> str:
        line = ", ".join(rows)
        if not rows:
            return brackets
        if len(line) <= _WIDTH - 16 and "\n" not in line:
            return f"{brackets[0]}{space}{line}{space}{brackets[1]}"
        return brackets[0] + "\n" + "".join(f"{self.indent(row)},\n" for row in rows) + brackets[1]


_PYTHON = _Language({None: "None", True: "True", False: "False"}, " " * 4, "", True, "")
_JAVASCRIPT = _Language({None: "null", True: "true", False: "false"}, " " * 2, " ", False, ";")


def _snake_case(name: str) -> str:
    spelled = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return f"{spelled}_" if keyword.iskeyword(spelled) else spelled


def _camel_case(tag: str) -> str:
    head, *tail = re.findall("[a-z0-9]+", tag)
    return head + "".join(word.capitalize() for word in tail)
