"""What an undo of a switch would remove and keep, and the undo."""

from flask import Blueprint, Response

from api.switches.switches import get_switch
from api.switches.undo import preview_switch_undo, undo_switch
from pages import api_client, screens
from pages.brand.switches import switch_words
from pages.form_pages import Form, form_page
from pages.forms import FormState

blueprint = Blueprint("switch_undo_page", __name__)

_UNDO = Form("", undo_switch, body={}, to="/dashboard/switch/{switch_id}", shows_all=True)


@form_page(blueprint, "member", "/dashboard/switch/<switch_id>/undo", _UNDO, uses=(get_switch, preview_switch_undo))
def show_switch_undo(form: FormState | None, switch_id: str) -> Response:
    """Show what an undo would remove, keep and take back. Budget: 8 round trips."""
    path = {"switch_id": switch_id}
    answer = api_client.call(preview_switch_undo, path=path)
    if answer.status == 409:  # such as after Back in the browser: it is undone already, or was never completed
        return screens.redirect(f"/dashboard/switch/{switch_id}?done=not-undone")
    preview = api_client.require_data(answer)
    return screens.render(
        "brand/switches/undo.html",
        form,
        switch=api_client.require(get_switch, path=path),
        preview=preview,
        taken_back={balance["currency"]: balance["cents"] for balance in preview["takenBack"]},
        collections=switch_words.COLLECTIONS,
        kept=switch_words.KEPT,
        describe=switch_words.describe,
    )
