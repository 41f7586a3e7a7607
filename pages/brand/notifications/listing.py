"""The notifications of a person at the dashboard."""

from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, request

from api.notifications.notifications import list_notifications, mark_notifications_read
from pages import api_client, screens
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("notifications_page", __name__)

_HERE = "/dashboard/notifications"
_READS = (list_notifications, mark_notifications_read)


def _read_values() -> dict[str, Any]:
    page = api_client.require(list_notifications, query={"cursor": request.args.get("cursor") or None})
    for item in page["items"]:
        item["path"] = urlsplit(item["url"]).path
    return {"page": page}


def _read_mark() -> Body:
    """Return up to which notification the page showed them; all without a valid number."""
    number = request.form.get("upToNumber", "")
    return {"upToNumber": int(number)} if number.isdecimal() and len(number) <= 12 else {}


@blueprint.get(f"{_HERE}/list")
@screen("member", uses=_READS)
def show_notifications_part() -> Response:
    """Show the list alone. Budget: 2 round trips."""
    return screens.render_part("brand/_notifications.html", **_read_values())


@form_page(
    blueprint,
    "member",
    _HERE,
    Form("/read", mark_notifications_read, _read_mark, done="read"),
    uses=(list_notifications,),
)
def show_notifications(form: FormState | None) -> Response:
    """Show the person's notifications, the latest first. Budget: 2 round trips."""
    return screens.render("brand/notifications.html", form, **_read_values())
