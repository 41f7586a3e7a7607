"""Invites to the brand's programs: one or up to fifty sent, their states, resent, revoked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

from flask import Blueprint, Response, request

from api.invites.invites import create_invite, create_invites, list_invites, resend_invite, revoke_invite
from api.programs.programs import list_programs
from domain.invites import MAX_RECIPIENTS, InviteState
from pages import api_client, form_values, forms, screens
from pages.api_client import ApiResult
from pages.brand import choices
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.list_pages import read_filter

blueprint = Blueprint("invites_page", __name__)

_HERE = "/dashboard/invites"
_OPERATIONS = (create_invite, create_invites, resend_invite, revoke_invite)


class InviteFormLine(NamedTuple):
    """A recipient from a line of the form; lines count from 1."""

    line: int
    recipient: Mapping[str, str | None]


def _send_one() -> Response | FormState:
    """Send one invite, and show its link once."""
    fields = request.form
    body = {
        "programId": fields.get("programId", ""),
        "email": fields.get("email", "").strip(),
        "fullName": fields.get("fullName", ""),
        "slug": fields.get("slug", "").strip() or None,
        "customCommissionType": fields.get("customCommissionType") or None,
        "customCommissionValue": form_values.parse_number(fields.get("customCommissionValue", "")),
        "personalNoteHtml": _read_note(),
        "autoApprove": "autoApprove" in fields,
    }
    answer = send(create_invite, body=body)
    return forms.form_from_refusal(answer, form_id="one-") if answer.refusal else _render_page(new_invite=answer.data)


def _send_many() -> Response | FormState:
    """Invite up to fifty people, and show whose slugs clashed."""
    rows = list(_read_recipients(request.form.get("recipients", "")))
    body = {
        "programId": request.form.get("programId", ""),
        "recipients": [row.recipient for row in rows],
        "personalNoteHtml": _read_note(),
        "autoApprove": "autoApprove" in request.form,
    }
    answer = send(create_invites, body=body)
    return _form_from_refusal(answer, rows) if answer.refusal else _render_page(outcome=answer.data)


def _resend() -> Response | FormState:
    """Resend an invite with a new link, and show the link."""
    answer = send(resend_invite, path={"invite_id": request.form.get("invite", "-")})
    return forms.form_with_alert(answer) if answer.refusal else _render_page(new_invite=answer.data)


def _revoke() -> Response | FormState:
    answer = send(revoke_invite, path={"invite_id": request.form.get("invite", "-")})
    return forms.form_with_alert(answer) if answer.refusal else screens.redirect(_HERE)


_HANDLERS: Mapping[str, Callable[[], Response | FormState]] = MappingProxyType(
    {"one": _send_one, "many": _send_many, "again": _resend, "revoke": _revoke}
)


def _handle_form() -> Response | FormState:
    """Handle the form in the field `do`."""
    return _HANDLERS.get(request.form.get("do", ""), _render_page)()


def _read_note() -> str | None:
    """Return the note as the HTML that the API takes; it is typed as text."""
    lines = [escape(line) for line in request.form.get("note", "").strip().splitlines()]
    return f"<p>{'<br>'.join(lines)}</p>" if lines else None


def _read_recipients(text: str) -> Iterator[InviteFormLine]:
    """Yield the recipient of each line: an address, then optionally a name and a slug after commas."""
    for line, typed_line in enumerate(text.splitlines(), start=1):
        if typed_line.strip():
            email, name, slug = [*(part.strip() for part in typed_line.split(",", 2)), "", ""][:3]
            yield InviteFormLine(line, {"email": email, "fullName": name, "slug": slug or None})


def _form_from_refusal(answer: ApiResult, rows: Sequence[InviteFormLine]) -> FormState:
    """Return the form with its errors, with the number of a wrong line."""
    for place, row in enumerate(rows):
        for field, message in (answer.refusal.fields if answer.refusal else {}).items():
            if field.startswith(f"recipients[{place}]"):
                errors = {"recipients": f"Line {row.line}: {message}"}
                return FormState(forms.form_from_request().values, errors, id="many-", status=answer.status)
    return forms.form_from_refusal(answer, {"emails": "recipients"}, form_id="many-")


@form_page(blueprint, "member", _HERE, CustomForm("", _handle_form, _OPERATIONS), uses=(list_invites, list_programs))
def show_invites(form: FormState | None) -> Response:
    """Show the invites, newest first, optionally of one program or in one state. Budget: 2 round trips."""
    return _render_page(form)


def _render_page(form: FormState | None = None, *, new_invite: Any = None, outcome: Any = None) -> Response:
    is_bulk_form = form is not None and form.id == "many-"
    query = {"state": read_filter("state"), "programId": read_filter("program"), "cursor": request.args.get("cursor")}
    invites = api_client.require(list_invites, query=query)
    return screens.render(
        "brand/invites.html",
        form,
        one=form if form and not is_bulk_form else forms.prefill("one-", autoApprove="on"),
        many=form if is_bulk_form else forms.prefill("many-", autoApprove="on"),
        made=new_invite,
        outcome=outcome,
        rows=invites["items"],
        next_cursor=invites["nextCursor"],
        programs=choices.list_program_choices(),
        states=[(state.value, state.value) for state in InviteState],
        most=MAX_RECIPIENTS,
    )
