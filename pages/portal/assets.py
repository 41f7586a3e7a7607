"""Texts and images that brands give their affiliates."""

from flask import Blueprint, Response

from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_assets_page", __name__)


@blueprint.get("/portal/assets")
@screen("account", uses=frame.USES)
def show_assets() -> Response:
    """Say where a brand's texts and images come from so far. Budget: 3 round trips."""
    return frame.show("assets.html")
