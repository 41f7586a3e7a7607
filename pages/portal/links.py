"""An affiliate's links with their numbers: made, ended, and as QR codes."""

import io

import segno
from flask import Blueprint, Response, request

from api.me.links import create_own_link, delete_own_link, list_own_links
from api.me.numbers import list_own_channels
from api.me.person import list_own_programs
from domain.refused import not_found
from pages import calls, documents, forms, screens
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_links_page", __name__)

_HERE = "/portal/links"
_USES = (*frame.USES, list_own_links, list_own_channels, list_own_programs, create_own_link, delete_own_link)
_MOST_CHANNELS = 50
_QR_SCALE = 8


@blueprint.get(_HERE)
@screen("account", uses=_USES)
def show_links() -> Response:
    """Show links, and what each channel tag brought in 30 days. Budget: 4 round trips, however many there are."""
    return _shown(forms.EMPTY)


@blueprint.post(_HERE)
@screen("account", uses=_USES)
def make_link() -> Response:
    """Make one more link."""
    sent = {name: request.form.get(name, "").strip() for name in ("programId", "customAlias", "format")}
    body = {name: value for name, value in sent.items() if value}
    answer = calls.call(create_own_link, body=body, key=forms.key())
    if answer.refusal is not None:
        return _shown(forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(_HERE)


@blueprint.post(f"{_HERE}/<link_id>/delete")
@screen("account", uses=_USES)
def end_link(link_id: str) -> Response:
    """End a link."""
    answer = calls.tried(delete_own_link, path={"link_id": link_id})
    if answer.refusal is not None:
        return _shown(forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(_HERE)


@blueprint.get(f"{_HERE}/<link_id>/qr.svg")
@screen("account", uses=(list_own_links,))
def show_qr_code(link_id: str) -> Response:
    """Show a link as a QR code that a camera reads, black on white. Budget: 3 round trips."""
    address = next((link["url"] for link in calls.needed(list_own_links) if link["id"] == link_id), None)
    if address is None:
        raise not_found("link", link_id)
    drawn = io.BytesIO()
    segno.make(address, error="m", micro=False).save(
        drawn, kind="svg", scale=_QR_SCALE, light="#fff", svgclass=None, lineclass=None
    )
    answer = Response(drawn.getvalue(), content_type="image/svg+xml", headers=documents.headers())
    answer.vary.add("Cookie")
    return answer


def _shown(form: FormState, *, status: int = 200) -> Response:
    programs = [one for one in calls.needed(list_own_programs) if one["status"] == "Approved"]
    return frame.show(
        "links.html",
        status=status,
        form=form,
        here=_HERE,
        links=calls.needed(list_own_links),
        channels=calls.needed(list_own_channels)[:_MOST_CHANNELS],
        programs=[(one["programId"], f"{one['name']}, {one['organizationName']}") for one in programs],
    )
