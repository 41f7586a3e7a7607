"""Compares every response and every webhook of the tests with the API description.

Each response of the application passes through here, so every test of a route also tests its description: a field that
is missing, or that the description does not have, is a violation.
"""

import copy
import json
import re
from typing import Any

import jsonschema_rs
from flask import Flask, Response, request

from schemas import refusals

_JSON = ("application/json", "application/problem+json")
# Statuses with which the HTTP layer may answer any request; the description does not list them.
_UNDESCRIBED_STATUSES = {304, 405, 500}


class ApiDescriptionChecker:
    """The API description of an application, and the violations of it that were seen."""

    def __init__(self, app: Flask) -> None:
        self.violations: list[str] = []
        self._app = app
        self._document: dict[str, Any] = {}
        self._validators: dict[str, Any] = {}
        app.after_request(self._check)

    def check_event(self, body: bytes) -> None:
        """Compare a webhook body with the description of its event type; ignore bodies that are not our events."""
        try:
            event = json.loads(body)
            description = self.document["webhooks"][event["type"]]["post"]["requestBody"]
        except (ValueError, KeyError, TypeError):
            return
        schema = description["content"]["application/json"]["schema"]
        self._compare(f"webhook {event['type']}", schema, event)

    @property
    def document(self) -> dict[str, Any]:
        """The API description, with objects closed: a field that is not described is a violation."""
        if not self._document:
            from api.service import description as api_description

            with self._app.test_request_context():
                self._document = copy.deepcopy(json.loads(json.dumps(api_description.document())))
            for schema in self._document["components"]["schemas"].values():
                if schema.get("type") == "object" and schema.get("properties") and "required" in schema:
                    schema.setdefault("additionalProperties", False)
            # Errors may have more fields than those that all errors have.
            self._document["components"]["schemas"]["Refusal"].pop("additionalProperties")
        return self._document

    def _check(self, response: Response) -> Response:
        if request.url_rule is None or request.method in ("HEAD", "OPTIONS") or response.is_streamed:
            return response
        path = re.sub(r"<(?:[a-z]+:)?([a-z_]+)>", lambda match: "{" + _camel(match[1]) + "}", request.url_rule.rule)
        description = self.document["paths"].get(path, {}).get(request.method.lower())
        if description is None or response.status_code in _UNDESCRIBED_STATUSES:
            return response
        place = f"{request.method} {path} {response.status_code}"
        answer = description["responses"].get(str(response.status_code))
        if answer is None:
            self.violations.append(f"{place} is not described")
            return response
        if "$ref" in answer:
            answer = self.document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
        if answer.get("content") and not response.get_data():
            self.violations.append(f"{place} has no body")
        self._check_doc_url(place, response)
        content = answer.get("content", {}).get(response.mimetype, {})
        if response.mimetype in _JSON and content.get("schema") and "Content-Encoding" not in response.headers:
            self._compare(f"{place} {response.mimetype}", content["schema"], response.get_json())
        return response

    def _check_doc_url(self, place: str, response: Response) -> None:
        """Check that a refusal links a paragraph that exists. A probe that reports a failure refuses nobody."""
        if response.status_code < 400 or response.mimetype != "application/json" or not response.get_data():
            return
        refusal = response.get_json()
        if place.startswith("GET /readyz "):
            return
        code = refusal.get("error")
        if isinstance(code, dict):  # an error of JSON-RPC, which has codes of its own
            return
        code = str(code)
        if re.sub(r"^[a-z]+(?=_connect_active$)", "{gateway}", code) not in refusals.sentences():
            self.violations.append(f"{place}: the error code {code} is not in schemas/error_codes.txt")
        if not str(refusal.get("doc_url")).endswith(f"/docs/errors#{code}"):
            self.violations.append(f"{place}: {code} has no doc_url")

    def _compare(self, place: str, schema: dict[str, Any], value: Any) -> None:
        cache_key = json.dumps(schema)  # most responses share their schema with others
        if cache_key not in self._validators:
            whole = {**schema, "components": self.document["components"]}
            self._validators[cache_key] = jsonschema_rs.validator_for(whole, validate_formats=True)
        for error in self._validators[cache_key].iter_errors(value):
            self.violations.append(f"{place}: {error.message[:300]} at {'.'.join(map(str, error.instance_path))}")


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
