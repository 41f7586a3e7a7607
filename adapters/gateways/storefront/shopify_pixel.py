"""shopify's web pixel: an app has at most one per shop; its settings are set through the Admin API.

The pixel's own script is deployed with the app (`integrations/shopify-pixel`). The existing pixel is read before
any change, so that a repeat after a lost answer creates nothing twice.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import GatewayAccount, GatewayRejected, GatewayUnreachable
from adapters.gateways.storefront import shopify_api

#: The setting that says whose pixel it is; shopify gives settings to the script as they are.
ACCOUNT = "accountID"

_NONE_YET = "no web pixel was found"
_NO_EXTENSION = ("NO_EXTENSION", "no extension found")
_DEPLOY = "the app has no web pixel extension: deploy it with integrations/shopify-pixel, and check the connection"
_SCOPES = "the app needs the scopes write_pixels, read_pixels and read_customer_events for its web pixel"
_DENIED = 403

_FIND = "query Pixel { webPixel { id settings } }"
_MAKE = """mutation PixelMake($pixel: WebPixelInput!) {
  webPixelCreate(webPixel: $pixel) { webPixel { id } userErrors { code message } }
}"""
_CHANGE = """mutation PixelChange($id: ID!, $pixel: WebPixelInput!) {
  webPixelUpdate(id: $id, webPixel: $pixel) { webPixel { id } userErrors { code message } }
}"""
_DELETE = """mutation PixelDelete($id: ID!) {
  webPixelDelete(id: $id) { deletedWebPixelId userErrors { code message } }
}"""


@dataclass(frozen=True, slots=True)
class _ExistingPixel:
    id: str
    settings: Mapping[str, str]


def settle(account: GatewayAccount, wanted: Mapping[str, str]) -> str:
    """Create or update the app's pixel at the shop with these settings, and return its id there. Repeatable.

    Raises CredentialsRefused, GatewayRejected (also where the app lacks the extension or a scope) and
    GatewayUnreachable: the change may have been made then.
    """
    existing = _find(account)
    if existing is not None and existing.settings == wanted:
        return existing.id
    pixel = {"settings": json.dumps(dict(wanted), sort_keys=True)}
    if existing is not None:
        return _id(_change(account, _CHANGE, {"id": existing.id, "pixel": pixel}, "webPixelUpdate"))
    return _id(_change(account, _MAKE, {"pixel": pixel}, "webPixelCreate"))


def remove(account: GatewayAccount, of_account: str) -> None:
    """Delete the app's pixel at the shop, if it still exists and belongs to this account.

    Raises as `settle`.
    """
    pixel = _find(account)
    if pixel is None or pixel.settings.get(ACCOUNT) != of_account:
        return
    result = shapes.get(_mutate(account, _DELETE, {"id": pixel.id}), "webPixelDelete")
    for error in shapes.items(result, "userErrors"):
        if shapes.text(error, "code") != "NOT_FOUND":
            raise GatewayRejected(422, shapes.text(error, "message") or "no reason given")


def _find(account: GatewayAccount) -> _ExistingPixel | None:
    try:
        pixel = shapes.get(shopify_api.graphql(account, _FIND), "webPixel")
    except GatewayRejected as error:
        if error.status == _DENIED:
            raise GatewayRejected(_DENIED, _SCOPES) from error
        if _NONE_YET in str(error).lower():
            return None
        raise
    pixel_id = shapes.text(pixel, "id")
    return _ExistingPixel(pixel_id, _settings(shapes.get(pixel, "settings"))) if pixel_id else None


def _settings(settings: Any) -> Mapping[str, str]:
    if isinstance(settings, str):
        try:
            settings = json.loads(settings)
        except ValueError:
            return {}
    return {str(name): str(value) for name, value in settings.items()} if isinstance(settings, Mapping) else {}


def _mutate(account: GatewayAccount, mutation: str, variables: Mapping[str, object]) -> Any:
    try:
        return shopify_api.graphql(account, mutation, variables)
    except GatewayRejected as error:
        if error.status == _DENIED:
            raise GatewayRejected(_DENIED, _SCOPES) from error
        if _NO_EXTENSION[1] in str(error).lower():
            raise GatewayRejected(422, _DEPLOY) from error
        raise


def _change(account: GatewayAccount, mutation: str, variables: Mapping[str, object], name: str) -> Any:
    result = shapes.get(_mutate(account, mutation, variables), name)
    for error in shapes.items(result, "userErrors"):
        code, words = shapes.text(error, "code"), shapes.text(error, "message") or "no reason given"
        if code in ("TAKEN", "NOT_FOUND"):
            raise GatewayUnreachable("its web pixel was made or deleted at the same moment")
        raise GatewayRejected(422, _DEPLOY if code == _NO_EXTENSION[0] else f"its web pixel: {words}")
    return result


def _id(result: Any) -> str:
    pixel_id = shapes.identity(result, "webPixel", "id")
    if pixel_id is None:
        raise GatewayUnreachable("no web pixel came")
    return pixel_id
