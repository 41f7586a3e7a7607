"""The curl command of an operation, with its required inputs only, from its entry in the OpenAPI document."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

#: The shell variable of the token by the kind of caller.
BEARERS = {
    "brand": "$KEY",
    "signed": "$KEY",
    "integration": "$KEY",
    "dashboard": "$OWNER_TOKEN",
    "affiliate": "$AFFILIATE_TOKEN",
    "operator": "$OPERATOR_TOKEN",
}
_SIGN = (
    "t=$(date +%s)",
    """sig=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$SIGNING_SECRET" | sed 's/.* //')""",
)
_NEXT = " \\\n  "


def curl_command(operation: Mapping[str, Any], method: str, path: str, *, base_url: str) -> str:
    """Return the curl command of one operation, with the required inputs only; `method` in capitals.

    `$KEY`, `$OWNER_TOKEN`, `$AFFILIATE_TOKEN`, `$OPERATOR_TOKEN`, `$SIGNING_SECRET` and the ids of the path are shell
    variables.
    """
    callers = operation["x-callers"]
    example = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
    parts = [f'{_start(method, example is not None)} "{base_url}{_fill_path(path)}{_query(operation)}"']
    if callers in BEARERS:
        parts.append(f'-H "Authorization: Bearer {BEARERS[callers]}"')
    lines: list[str] = []
    if callers == "signed":
        lines += [f"body={_quote(example)}", *_SIGN]
        parts.append('-H "X-Service-Signature: t=$t,sig=$sig"')
    if example is not None:
        parts.append("-H 'Content-Type: application/json'")
        parts.append('-d "$body"' if callers == "signed" else f"-d {_quote(example)}")
    return "\n".join([*lines, _NEXT.join(parts)])


def _shell_variable(name: str) -> str:
    """Return the shell variable of a path parameter: programId is $PROGRAM_ID."""
    return "$" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def _start(method: str, has_body: bool) -> str:
    # curl sends GET by default, and POST if there is a body.
    is_default = method == "GET" or (method == "POST" and has_body)
    return "curl -s" if is_default else f"curl -s -X {method}"


def _fill_path(path: str) -> str:
    return re.sub(r"\{([^}]*)\}", lambda match: _shell_variable(match[1]), path)


def _query(operation: Mapping[str, Any]) -> str:
    query = dict(required_query(operation))
    return f"?{urlencode(query)}" if query else ""


def required_query(operation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the query parameters that a request must have, each with its example."""
    for parameter in operation["parameters"]:
        if parameter["in"] == "query" and parameter["required"]:
            yield parameter["name"], parameter["schema"]["examples"][0]


def _quote(example: Any) -> str:
    return shlex.quote(json.dumps(example, ensure_ascii=False, separators=(",", ":")))
