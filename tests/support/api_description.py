"""Whatever a test is answered, and whatever a receiver is sent, is as described: no field too many or too few.

Every answer of the application passes by here, so each test of a route is a test of its description as well.
"""

import copy
import json
import re
from typing import Any

import jsonschema_rs
from flask import Flask, Response, request

_JSON = ("application/json", "application/problem+json")
# What HTTP and the edge answer to any request, declared or not.
_OF_THE_EDGE = {304, 405, 500}


class ApiDescriptionChecker:
    """The description of an application, and what was seen that it does not allow."""

    def __init__(self, app: Flask) -> None:
        self.wrong: list[str] = []
        self._app = app
        self._document: dict[str, Any] = {}
        self._validators: dict[str, Any] = {}
        app.after_request(self._check)

    def check_event(self, body: bytes) -> None:
        """Compare what a receiver was sent with the webhook of its type; what is no event of ours is left alone."""
        try:
            event = json.loads(body)
            described = self.document["webhooks"][event["type"]]["post"]["requestBody"]
        except (ValueError, KeyError, TypeError):
            return
        schema = described["content"]["application/json"]["schema"]
        self._compare(f"webhook {event['type']}", schema, event)

    @property
    def document(self) -> dict[str, Any]:
        """The document, its records closed: a field that is not described is one too many."""
        if not self._document:
            from api.service import description

            with self._app.test_request_context():
                self._document = copy.deepcopy(json.loads(json.dumps(description.document())))
            for schema in self._document["components"]["schemas"].values():
                if schema.get("type") == "object" and schema.get("properties") and "required" in schema:
                    schema.setdefault("additionalProperties", False)
            # A refusal may say more than every refusal does.
            self._document["components"]["schemas"]["Refusal"].pop("additionalProperties")
        return self._document

    def _check(self, response: Response) -> Response:
        if request.url_rule is None or request.method in ("HEAD", "OPTIONS") or response.is_streamed:
            return response
        path = re.sub(r"<(?:[a-z]+:)?([a-z_]+)>", lambda found: "{" + _camel(found[1]) + "}", request.url_rule.rule)
        described = self.document["paths"].get(path, {}).get(request.method.lower())
        if described is None or response.status_code in _OF_THE_EDGE:
            return response
        place = f"{request.method} {path} {response.status_code}"
        answer = described["responses"].get(str(response.status_code))
        if answer is None:
            self.wrong.append(f"{place} is not described")
            return response
        if "$ref" in answer:
            answer = self.document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        if answer.get("content") and not response.get_data():
            self.wrong.append(f"{place} has no body")
        content = answer.get("content", {}).get(response.mimetype, {})
        if response.mimetype in _JSON and content.get("schema"):
            self._compare(f"{place} {response.mimetype}", content["schema"], response.get_json())
        return response

    def _compare(self, place: str, schema: dict[str, Any], value: Any) -> None:
        known_as = json.dumps(schema)  # most answers share theirs with others
        if known_as not in self._validators:
            whole = {**schema, "components": self.document["components"]}
            self._validators[known_as] = jsonschema_rs.validator_for(whole, validate_formats=True)
        for error in self._validators[known_as].iter_errors(value):
            self.wrong.append(f"{place}: {error.message[:300]} at {'.'.join(map(str, error.instance_path))}")


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
