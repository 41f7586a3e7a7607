"""Texts and images for affiliates: given, looked at, taken away."""

import base64
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.programs.assets import create_asset, delete_asset, get_asset_file, list_assets
from api.programs.programs import list_programs
from domain.programs.assets import MOST_IMAGE_BYTES
from pages import calls, forms, screens
from pages.brand import choices
from pages.calls import CallAnswer
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("assets_page", __name__)

_HERE = "/dashboard/assets"
_USES = (list_assets, list_programs, create_asset, delete_asset)
_MOST_FORM_BYTES = MOST_IMAGE_BYTES + 64 * 1024
#: So many a page, with all that the texts say.
_TAKE = 20
_DONE = ("given", "deleted")
_TOO_LARGE = f"It is larger than {MOST_IMAGE_BYTES // 1024**2} MiB."


@blueprint.get(_HERE)
@screen("member", uses=_USES)
def show_assets() -> Response:
    """Show what there is by the filter in the address. Budget: 2 round trips, however many there are."""
    return _shown()


@blueprint.post(f"{_HERE}/texts")
@screen("member", uses=_USES)
def give_text() -> Response:
    """Give affiliates a text."""
    sent = {"text": request.form.get("text", "").replace("\r\n", "\n") or None}
    return _given(calls.tried(create_asset, body=_body() | sent, key=forms.key()), "text-")


@blueprint.post(f"{_HERE}/images")
@screen("member", uses=_USES, most_bytes=_MOST_FORM_BYTES)
def give_image() -> Response:
    """Give affiliates an image: what it is, is read out of its bytes, and the name of the file is never looked at."""
    content = _chosen()
    if not content or len(content) > MOST_IMAGE_BYTES:
        return _shown(422, forms.wrong({"file": _TOO_LARGE if content else "Choose a file."}, form_id="image-"))
    body = _body() | {"dataBase64": base64.b64encode(content).decode()}
    return _given(calls.tried(create_asset, body=body, key=forms.key()), "image-")


@blueprint.post(f"{_HERE}/<asset_id>/delete")
@screen("member", uses=_USES)
def take_away(asset_id: str) -> Response:
    """Take a text or an image away."""
    answer = calls.tried(delete_asset, path={"asset_id": asset_id})
    if answer.refusal is not None:
        return _shown(answer.status, forms.refused(answer.refusal))
    return screens.sent_on(f"{_HERE}?done=deleted")


@blueprint.get(f"{_HERE}/<asset_id>/file")
@screen("member", uses=(get_asset_file,))
def download_asset(asset_id: str) -> Response:
    """Give an image out as the API does. Budget: 2 round trips."""
    return calls.passed_on(get_asset_file, path={"asset_id": asset_id})


def _body() -> dict[str, Any]:
    return {"name": request.form.get("name", ""), "programId": request.form.get("programId") or None}


def _chosen() -> bytes:
    chosen = request.files.get("file")
    try:
        return chosen.read(MOST_IMAGE_BYTES + 1) if chosen is not None else b""
    finally:
        request.close()  # a large file was put into one on the disk


def _given(answer: CallAnswer, form_id: str) -> Response:
    if answer.refusal is None:
        return screens.sent_on(f"{_HERE}?done=given")
    if answer.refusal.code in ("invalid_image", "payload_too_large"):
        return _shown(422, forms.wrong({"file": answer.refusal.message}, form_id=form_id))
    return _shown(answer.status, forms.refused(answer.refusal, form_id=form_id))


def _shown(status: int = 200, form: FormState = forms.EMPTY) -> Response:
    wanted = {name: request.args.get(name) or None for name in ("programId", "cursor")}
    listed = calls.call(list_assets, query=wanted | {"take": _TAKE})
    page: Mapping[str, Any] = listed.data
    if listed.refusal is not None:
        status, form = listed.status, FormState(alert=" ".join(listed.refusal.fields.values()))
        page = {"items": [], "nextCursor": None}
    return screens.show(
        "brand/assets.html",
        status=status,
        form=form,
        here=_HERE,
        assets=page["items"],
        next_cursor=page["nextCursor"],
        is_narrowed=any(wanted.values()),
        programs=choices.programs(),
        text_form=form if form.id == "text-" else forms.blank("text-", programId=wanted["programId"]),
        image_form=form if form.id == "image-" else forms.blank("image-", programId=wanted["programId"]),
        done=request.args.get("done") if request.args.get("done") in _DONE else None,
        may_give=calls.may(create_asset),
        may_delete=calls.may(delete_asset),
    )
