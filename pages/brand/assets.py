"""Texts and images for affiliates: created, listed, deleted."""

import base64
from collections.abc import Mapping

from flask import Blueprint, Response, request

from api.programs.assets import create_asset, delete_asset, get_asset_file, list_assets
from api.programs.programs import list_programs
from domain.programs.assets import MAX_IMAGE_BYTES
from pages import api_client, forms, screens
from pages.brand import choices
from pages.form_pages import CustomForm, Form, form_page, send
from pages.forms import FormState
from pages.list_pages import RowList, read_filter
from pages.screens import screen

blueprint = Blueprint("assets_page", __name__)

_HERE = "/dashboard/assets"
_MAX_FORM_BYTES = MAX_IMAGE_BYTES + 64 * 1024
# The rows contain the whole texts, so a page has few.
_ASSETS = RowList(list_assets, ("programId",), query={"take": 20})
_TOO_LARGE = f"The file is larger than {MAX_IMAGE_BYTES // 1024**2} MiB."


def _create_text() -> Response | FormState:
    """Create a text for affiliates."""
    return _create({"text": request.form.get("text", "").replace("\r\n", "\n") or None}, "text-")


def _create_image() -> Response | FormState:
    """Create an image for affiliates: its type is read from its bytes, never from the name of the file."""
    content = forms.read_file("file", MAX_IMAGE_BYTES)
    if not content or len(content) > MAX_IMAGE_BYTES:
        return forms.form_with_errors({"file": _TOO_LARGE if content else "Choose a file."}, form_id="image-")
    return _create({"dataBase64": base64.b64encode(content).decode()}, "image-")


def _create(content: Mapping[str, object], form_id: str) -> Response | FormState:
    about = {"name": request.form.get("name", ""), "programId": request.form.get("programId") or None}
    answer = send(create_asset, body={**about, **content})
    if answer.refusal is None:
        return screens.redirect(f"{_HERE}?done=given")
    if answer.refusal.code in ("invalid_image", "payload_too_large"):
        return forms.form_with_errors({"file": answer.refusal.message}, form_id=form_id)
    return forms.form_from_refusal(answer, form_id=form_id)


_FORMS = (
    CustomForm("/texts", _create_text, (create_asset,)),
    CustomForm("/images", _create_image, (create_asset,), _MAX_FORM_BYTES),
    Form("/<asset_id>/delete", delete_asset, done="deleted"),
)


@form_page(blueprint, "member", _HERE, *_FORMS, uses=(list_assets, list_programs))
def show_assets(form: FormState | None) -> Response:
    """Show assets by the filter in the address. Budget: 2 round trips, however many there are."""
    program_id = read_filter("programId")
    return screens.render(
        "brand/assets.html",
        **_ASSETS.read().values(form),
        programs=choices.list_program_choices(),
        text_form=form if form and form.id == "text-" else forms.prefill("text-", programId=program_id),
        image_form=form if form and form.id == "image-" else forms.prefill("image-", programId=program_id),
    )


@blueprint.get(f"{_HERE}/<asset_id>/file")
@screen("member", uses=(get_asset_file,))
def download_asset(asset_id: str) -> Response:
    """Send an image as the API does. Budget: 2 round trips."""
    return api_client.forward_file(get_asset_file, path={"asset_id": asset_id})
