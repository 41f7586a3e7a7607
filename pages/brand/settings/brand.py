"""The brand's look for affiliates: its logo, and its color with a preview in both themes.

The color is picked or typed. A preview of a color that is not saved yet is in the address of the page.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, request

from api.organization.organization import change_organization, delete_logo, get_organization, put_logo
from domain.organization import colors
from pages import api_client, forms, screens, static_files
from pages.brand.settings import changes
from pages.form_pages import Body, CustomForm, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("brand_page", __name__)

_HERE = "/dashboard/settings/brand"
_MAX_LOGO_BYTES = 1_100_000
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_DEFAULT_COLOR = "#0a6847"
# Name, background and ink of the themes in app.css.
_THEMES = (("Light theme", "#ffffff", "#16201b"), ("Dark theme", "#171e1a", "#e7eeea"))


@dataclass(frozen=True, slots=True)
class ThemePreview:
    """The colors of a theme with a brand's color: `accent` is that color, as far as it can be read."""

    label: str
    background: str
    ink: str
    accent: str
    text_on_accent: str
    is_adjusted: bool


def _read_color() -> str | None:
    """Return the typed color, or the picked one if the form showed another and the text did not change."""
    names = ("primaryBrandColor", "shownText", "picked", "shownColor")
    typed, shown_text, picked, shown_color = (request.values.get(name, "").strip().lower() for name in names)
    return (picked if picked and picked != shown_color and typed == shown_text else typed) or None


def _change_color() -> Response | FormState:
    """Change the brand's color."""
    color = _read_color()
    return changes.send_changes({"primaryBrandColor": color.lower() if color else None}, to=f"{_HERE}?done=saved")


def _read_logo() -> Body | FormState:
    content = forms.read_file("logo", _MAX_LOGO_BYTES)
    if not content:
        return FormState(errors={"logo": "Choose an image."}, id="logo-", status=422)
    return {"dataBase64": base64.b64encode(content).decode()}


_FORMS = (
    CustomForm("", _change_color, (change_organization,)),
    Form("/logo", put_logo, _read_logo, id="logo-", done="saved", max_bytes=_MAX_LOGO_BYTES),
    Form("/logo/delete", delete_logo, id="logo-", done="removed"),
)


@form_page(blueprint, "member", _HERE, *_FORMS, uses=(get_organization,))
def show_brand(form: FormState | None) -> Response:
    """Show logo and color. Budget: 1 round trip."""
    organization = api_client.require(get_organization)
    stored = organization["primaryBrandColor"]
    requested = _read_color() if "primaryBrandColor" in request.values else stored
    color_form = form if form and form.id != "logo-" else forms.prefill(primaryBrandColor=requested)
    return screens.render(
        "brand/settings/brand.html",
        form,
        organization=organization,
        logo=urlsplit(organization["logoUrl"]).path if organization["logoUrl"] else None,
        logo_form=form if form and form.id == "logo-" else forms.prefill("logo-"),
        color=color_form,
        **_build_preview(requested, organization),
    )


def _build_preview(color: str | None, organization: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of the preview of a color; an invalid one is shown as the default color."""
    is_valid = color is not None and _COLOR.fullmatch(color) is not None
    valid_color = color.lower() if color and is_valid else _DEFAULT_COLOR
    return {
        "name": organization["name"],
        "picked": valid_color,
        "is_invalid": color is not None and not is_valid,
        "contrast": f"{colors.contrast(valid_color, colors.WHITE):.1f}",
        "previews": [
            ThemePreview(label, background, ink, accent, colors.text_on(accent), accent != valid_color)
            for (label, background, ink), accent in zip(
                _THEMES, static_files.readable_accents(valid_color), strict=True
            )
        ],
    }
