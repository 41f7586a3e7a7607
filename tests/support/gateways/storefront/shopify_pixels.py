"""shopify's web pixel for the tests: one for an app at a shop, as its GraphQL has it."""

import json
import tomllib
from typing import Any

from tests.support.gateways.codes import Answer
from tests.support.gateways.stage import ApiCall
from tests.support.trees import ROOT

# What the deployed script takes: the shop refuses any other settings.
_EXTENSION = tomllib.loads((ROOT / "integrations/shopify-pixel/shopify.extension.toml").read_text())
_FIELDS = set(_EXTENSION["settings"]["fields"])
_NONE_YET = {"data": None, "errors": [{"message": "No web pixel was found for this app."}]}
_ACTS = ("webPixelCreate", "webPixelUpdate", "webPixelDelete")


class ShopifyPixels:
    """The shop's side. `may` says whether the app has the scopes, `has_extension` whether a script was deployed."""

    def __init__(self) -> None:
        self.may = True
        self.has_extension = True
        self.there: dict[str, Any] | None = None
        self.acts: list[str] = []

    def answer(self, call: ApiCall) -> Answer | None:
        """Answer a call that is about pixels; None for every other."""
        query, variables = call.json["query"], call.json["variables"]
        if "webPixel" not in query:
            return None
        if not self.may:
            denied = {"message": "Access denied for webPixel field.", "extensions": {"code": "ACCESS_DENIED"}}
            return 200, {"data": {"webPixel": None}, "errors": [denied]}
        act = next((name for name in _ACTS if name in query), None)
        if act is None:
            return 200, {"data": {"webPixel": self._shown()}} if self.there else _NONE_YET
        self.acts.append(act)
        return 200, {"data": {act: getattr(self, f"_{act}")(variables)}}

    @property
    def settings(self) -> dict[str, str] | None:
        """What the script is given; None without a pixel."""
        return self.there["settings"] if self.there else None

    def _shown(self) -> dict[str, Any]:
        assert self.there is not None
        return {"id": self.there["id"], "settings": json.dumps(self.there["settings"])}

    def _webPixelCreate(self, variables: dict[str, Any]) -> dict[str, Any]:  # as it is called there
        if not self.has_extension:
            return _refused("NO_EXTENSION", "No extension found.", "webPixel")
        if set(_given(variables)) != _FIELDS:
            return _refused("INVALID_SETTINGS", "Settings are invalid", "webPixel")
        if self.there is not None:
            return _refused("TAKEN", "Web pixel is already taken", "webPixel")
        self.there = {"id": f"gid://shopify/WebPixel/{len(self.acts)}", "settings": _given(variables)}
        return {"webPixel": self._shown(), "userErrors": []}

    def _webPixelUpdate(self, variables: dict[str, Any]) -> dict[str, Any]:
        if self.there is None or self.there["id"] != variables["id"]:
            return _refused("NOT_FOUND", "Web pixel was not found", "webPixel")
        if set(_given(variables)) != _FIELDS:
            return _refused("INVALID_SETTINGS", "Settings are invalid", "webPixel")
        self.there["settings"] = _given(variables)
        return {"webPixel": self._shown(), "userErrors": []}

    def _webPixelDelete(self, variables: dict[str, Any]) -> dict[str, Any]:
        if self.there is None or self.there["id"] != variables["id"]:
            return _refused("NOT_FOUND", "Web pixel was not found", "deletedWebPixelId")
        self.there = None
        return {"deletedWebPixelId": variables["id"], "userErrors": []}


def _given(variables: dict[str, Any]) -> dict[str, str]:
    matches: dict[str, str] = json.loads(variables["pixel"]["settings"])
    return matches


def _refused(code: str, message: str, name: str) -> dict[str, Any]:
    return {name: None, "userErrors": [{"code": code, "field": None, "message": message}]}
