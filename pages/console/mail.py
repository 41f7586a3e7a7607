"""Emails: sent, stored without a mail server, failed with the reason. Reading the text of one is audited."""

from flask import Blueprint, Response

from api.operator.mail import list_letters, open_letter, retry_letter
from pages import api_client, screens
from pages.form_pages import Form, form_page
from pages.forms import FormState
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("mail_page", __name__)

_MAIL = "/console/mail"
_LETTERS = RowList(list_letters, ("status", "organizationId"))


@form_page(blueprint, "operator", _MAIL, Form("/<message_id>/retry", retry_letter), uses=(list_letters,))
def show_mail(form: FormState | None) -> Response:
    """Show emails by the filter in the address, fifty a page. Budget: 1 round trip, however many there are."""
    return screens.render("console/mail.html", **_LETTERS.read().values(form))


@blueprint.get(f"{_MAIL}/<message_id>")
@screen("operator", uses=(open_letter, retry_letter))
def show_letter(message_id: str) -> Response:
    """Show one email with its text. Budget: 2 round trips."""
    return screens.render(
        "console/letter.html", letter=api_client.require(open_letter, path={"message_id": message_id})
    )
