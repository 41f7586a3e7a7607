"""An affiliate's links with their numbers: created, deleted, and as QR codes."""

from flask import Blueprint, Response, request

from api.me.links import create_own_link, delete_own_link, list_own_links
from api.me.numbers import list_own_channels
from api.me.person import list_own_programs
from domain.refusals import not_found
from pages import api_client, documents
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_links_page", __name__)

_HERE = "/portal/links"
_MAX_CHANNELS = 50


def _read_link() -> Body:
    return {
        name: value for name in ("programId", "customAlias", "format") if (value := request.form.get(name, "").strip())
    }


_FORMS = (
    Form("", create_own_link, _read_link, shows_all=True),
    Form("/<link_id>/delete", delete_own_link),
)


@form_page(
    blueprint, "account", _HERE, *_FORMS, uses=(*frame.USES, list_own_links, list_own_channels, list_own_programs)
)
def show_links(form: FormState | None) -> Response:
    """Show links, and the results of each channel tag in 30 days. Budget: 4 round trips, however many there are."""
    return frame.render(
        "links.html",
        form,
        links=api_client.require(list_own_links),
        channels=api_client.require(list_own_channels)[:_MAX_CHANNELS],
        programs=frame.name_programs(api_client.require(list_own_programs), status="Approved"),
    )


@blueprint.get(f"{_HERE}/<link_id>/qr.svg")
@screen("account", uses=(list_own_links,))
def show_qr_code(link_id: str) -> Response:
    """Show a link as a QR code that a camera reads, black on white. Budget: 3 round trips."""
    address = next((link["url"] for link in api_client.require(list_own_links) if link["id"] == link_id), None)
    if address is None:
        raise not_found("link", link_id)
    return documents.render_qr_code(address)
