"""The web pixel of the fake Shopify: an app has at most one at a shop."""

import json
import tomllib
from typing import Any

from tests.support.gateways.codes import Answer
from tests.support.gateways.stage import ApiCall
from tests.support.trees import ROOT

# The settings of the deployed script; the shop refuses any others.
_EXTENSION = tomllib.loads((ROOT / "integrations/shopify-pixel/shopify.extension.toml").read_text())
_FIELDS = set(_EXTENSION["settings"]["fields"])
_NO_PIXEL = {"data": None, "errors": [{"message": "No web pixel was found for this app."}]}
_ACTS = ("webPixelCreate", "webPixelUpdate", "webPixelDelete")


class ShopifyPixels:
    """The web pixel of a shop. `has_scopes`: the app has the scopes; `has_extension`: a script is deployed."""

    def __init__(self) -> None:
        self.has_scopes = True
        self.has_extension = True
        self.pixel: dict[str, Any] | None = None
        self.acts: list[str] = []

    def answer(self, call: ApiCall) -> Answer | None:
        """Handle a call about pixels; return None for any other call."""
        query, variables = call.json["query"], call.json["variables"]
        if "webPixel" not in query:
            return None
        if not self.has_scopes:
            denied = {"message": "Access denied for webPixel field.", "extensions": {"code": "ACCESS_DENIED"}}
            return 200, {"data": {"webPixel": None}, "errors": [denied]}
        act = next((name for name in _ACTS if name in query), None)
        if act is None:
            return 200, {"data": {"webPixel": self._serialize_pixel()}} if self.pixel else _NO_PIXEL
        self.acts.append(act)
        return 200, {"data": {act: getattr(self, f"_{act}")(variables)}}

    @property
    def settings(self) -> dict[str, str] | None:
        """The settings of the script; None without a pixel."""
        return self.pixel["settings"] if self.pixel else None

    def _serialize_pixel(self) -> dict[str, Any]:
        assert self.pixel is not None
        return {"id": self.pixel["id"], "settings": json.dumps(self.pixel["settings"])}

    def _webPixelCreate(self, variables: dict[str, Any]) -> dict[str, Any]:  # the name of the GraphQL mutation
        if not self.has_extension:
            return _build_error("NO_EXTENSION", "No extension found.", "webPixel")
        if set(_settings_from(variables)) != _FIELDS:
            return _build_error("INVALID_SETTINGS", "Settings are invalid", "webPixel")
        if self.pixel is not None:
            return _build_error("TAKEN", "Web pixel is already taken", "webPixel")
        self.pixel = {"id": f"gid://shopify/WebPixel/{len(self.acts)}", "settings": _settings_from(variables)}
        return {"webPixel": self._serialize_pixel(), "userErrors": []}

    def _webPixelUpdate(self, variables: dict[str, Any]) -> dict[str, Any]:
        if self.pixel is None or self.pixel["id"] != variables["id"]:
            return _build_error("NOT_FOUND", "Web pixel was not found", "webPixel")
        if set(_settings_from(variables)) != _FIELDS:
            return _build_error("INVALID_SETTINGS", "Settings are invalid", "webPixel")
        self.pixel["settings"] = _settings_from(variables)
        return {"webPixel": self._serialize_pixel(), "userErrors": []}

    def _webPixelDelete(self, variables: dict[str, Any]) -> dict[str, Any]:
        if self.pixel is None or self.pixel["id"] != variables["id"]:
            return _build_error("NOT_FOUND", "Web pixel was not found", "deletedWebPixelId")
        self.pixel = None
        return {"deletedWebPixelId": variables["id"], "userErrors": []}


def _settings_from(variables: dict[str, Any]) -> dict[str, str]:
    settings: dict[str, str] = json.loads(variables["pixel"]["settings"])
    return settings


def _build_error(code: str, message: str, name: str) -> dict[str, Any]:
    return {name: None, "userErrors": [{"code": code, "field": None, "message": message}]}
