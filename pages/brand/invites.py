"""Invitations to the brand's programs: one or fifty sent, what became of them, sent again, taken back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

from flask import Blueprint, Response, request

from api.invites.invites import create_invite, create_invites, list_invites, resend_invite, revoke_invite
from api.programs.programs import list_programs
from domain.invites import MOST_RECIPIENTS, InviteState
from pages import calls, forms, screens, typed
from pages.brand import choices
from pages.calls import CallRefusal
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("invites_page", __name__)

_HERE = "/dashboard/invites"
_READS = (list_invites, list_programs)


class InvitesFormRow(NamedTuple):
    """Somebody who is named in a line of the form, counted from 1."""

    line: int
    recipient: Mapping[str, str | None]


@blueprint.get(_HERE)
@screen("member", uses=_READS)
def show_invites() -> Response:
    """Show the invites, newest first, of one program or in one state when asked. Budget: 2 round trips."""
    return _show()


@blueprint.post(_HERE)
@screen("member", uses=(*_READS, create_invite, create_invites, resend_invite, revoke_invite))
def change_invites() -> Response:
    """Do what the form that was sent is for: `do` says which one that is."""
    return _DOING.get(request.form.get("do", ""), _show)()


def _send_one() -> Response:
    """Invite somebody, and show the link, which is never shown again."""
    sent = request.form
    body = {
        "programId": sent.get("programId", ""),
        "email": sent.get("email", "").strip(),
        "fullName": sent.get("fullName", ""),
        "slug": sent.get("slug", "").strip() or None,
        "customCommissionType": sent.get("customCommissionType") or None,
        "customCommissionValue": typed.number(sent.get("customCommissionValue", "")),
        "personalNoteHtml": _note(),
        "autoApprove": "autoApprove" in sent,
    }
    answer = calls.tried(create_invite, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(one=forms.refused(answer.refusal, form_id="one-"), status=answer.status)
    return _show(made=answer.data)


def _send_many() -> Response:
    """Invite up to fifty people, and show whose slugs clashed."""
    rows = list(_rows(request.form.get("recipients", "")))
    body = {
        "programId": request.form.get("programId", ""),
        "recipients": [row.recipient for row in rows],
        "personalNoteHtml": _note(),
        "autoApprove": "autoApprove" in request.form,
    }
    answer = calls.tried(create_invites, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(many=_wrong(answer.refusal, rows), status=answer.status)
    return _show(outcome=answer.data)


def _send_again() -> Response:
    """Send an invite again with a new link, and show the link."""
    answer = calls.tried(resend_invite, path={"invite_id": request.form.get("invite", "-")}, key=forms.key())
    if answer.refusal is not None:
        return _show(one=FormState(alert=answer.refusal.message), status=answer.status)
    return _show(made=answer.data)


def _take_back() -> Response:
    answer = calls.tried(revoke_invite, path={"invite_id": request.form.get("invite", "-")}, key=forms.key())
    if answer.refusal is not None:
        return _show(one=FormState(alert=answer.refusal.message), status=answer.status)
    return screens.sent_on(_HERE)


_DOING: Mapping[str, Callable[[], Response]] = MappingProxyType(
    {"one": _send_one, "many": _send_many, "again": _send_again, "revoke": _take_back}
)


def _note() -> str | None:
    """Return the note as the HTML that the API takes; it is typed as text."""
    lines = [escape(line) for line in request.form.get("note", "").strip().splitlines()]
    return f"<p>{'<br>'.join(lines)}</p>" if lines else None


def _rows(text: str) -> Iterator[InvitesFormRow]:
    """Yield who is named in each line: an address, then after commas a name and a slug, where there are any."""
    for line, said in enumerate(text.splitlines(), start=1):
        if said.strip():
            email, name, slug = [*(part.strip() for part in said.split(",", 2)), "", ""][:3]
            yield InvitesFormRow(line, {"email": email, "fullName": name, "slug": slug or None})


def _wrong(refusal: CallRefusal, rows: Sequence[InvitesFormRow]) -> FormState:
    """Return the form with what is wrong, the line named where it is one."""
    for place, row in enumerate(rows):
        for field, message in refusal.fields.items():
            if field.startswith(f"recipients[{place}]"):
                return forms.wrong({"recipients": f"Line {row.line}: {message}"}, form_id="many-")
    return forms.refused(refusal, {"emails": "recipients"}, form_id="many-")


_NEW = forms.blank("one-", autoApprove="on")
_NEW_MANY = forms.blank("many-", autoApprove="on")


def _show(
    *,
    one: FormState = _NEW,
    many: FormState = _NEW_MANY,
    made: Any = None,
    outcome: Any = None,
    status: int = 200,
) -> Response:
    asked = request.args
    query = {
        "state": asked.get("state") or None,
        "programId": asked.get("program") or None,
        "cursor": asked.get("cursor"),
    }
    found = calls.needed(list_invites, query=query)
    return screens.show(
        "brand/invites.html",
        status=status,
        form=many if many.is_wrong else one,
        one=one,
        many=many,
        made=made,
        outcome=outcome,
        invites=found["items"],
        cursor=found["nextCursor"],
        programs=choices.programs(),
        states=[(state.value, state.value) for state in InviteState],
        most=MOST_RECIPIENTS,
        can_send=calls.may(create_invite),
        can_send_many=calls.may(create_invites),
        can_resend=calls.may(resend_invite),
    )
