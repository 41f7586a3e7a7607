"""A form that waits while whoever typed it logs in again: for money, and for what can speak for an organization.

Its text is in a cookie of its own, sealed, for a quarter of an hour; the page that gets it back is the one it was typed
into, and the person the same. Nothing of it is ever in an address.
"""

from typing import Final
from uuid import UUID

from flask import Response, current_app, g, request
from werkzeug.exceptions import HTTPException

from api import saved_forms
from api.access.persons import Person
from api.saved_forms import SavedForm
from pages import navigation, session
from pages.forms import FormState

_PATH: Final = "/"
# Browsers keep a cookie of 4,096 bytes with its name and all that is said about it.
_LONGEST = 3_800


def page() -> str:
    """Return the address of the page whose form this request sends: what its hidden `_page` says, or its own."""
    told = request.form.get("_page", "")
    if navigation.is_ours(told):
        return told
    if _is_page(request.path):
        return request.full_path.removesuffix("?")
    person = session.present()
    return navigation.of(person).home if person else "/sign-in"


def keep(answer: Response) -> None:
    """Have the browser keep what this request sent. What is too long for a cookie is not kept."""
    values = {name: typed for name, typed in request.form.lists() if not name.startswith("_")}
    sealed = saved_forms.seal(SavedForm(page(), values), owner=_owner_of(session.person()))
    if len(sealed) <= _LONGEST:
        lasts_s = int(saved_forms.LIFETIME.total_seconds())
        is_secure = session.is_secure()
        answer.set_cookie(_name(), sealed, lasts_s, path=_PATH, secure=is_secure, httponly=True, samesite="Lax")


def form() -> FormState | None:
    """Return what this person had typed into this page when they had to log in again, once; None otherwise."""
    person = session.present()
    found = _found(_owner_of(person)) if person else None
    if found is None or found.page.partition("?")[0] != request.path:
        return None
    g.kept_was_used = True
    return FormState(found.values)


def waiting(whose: str) -> str | None:
    """Return the address of the page whose form waits for its `owner`."""
    found = _found(whose)
    return found.page if found and navigation.is_ours(found.page) else None


def is_there() -> bool:
    """Say whether a form waits in this browser, for whoever."""
    return _name() in request.cookies


def owner(kind: str, subject: str, organization_id: UUID | None) -> str:
    """Return whose a form is: a person, in one organization."""
    return f"{kind} {organization_id or ''} {subject}"


def drop_used(answer: Response) -> None:
    """Have the browser forget a form that this request got back."""
    if g.get("kept_was_used"):
        drop(answer)


def drop(answer: Response) -> None:
    """Have the browser forget the form that waits in it."""
    if is_there():
        answer.delete_cookie(_name(), path=_PATH, secure=session.is_secure(), httponly=True, samesite="Lax")


def _owner_of(person: Person) -> str:
    return owner(person.kind, person.subject, person.member.organization_id if person.member else None)


def _found(whose: str) -> SavedForm | None:
    sealed = request.cookies.get(_name())
    return saved_forms.unseal(sealed, owner=whose) if sealed else None


def _is_page(path: str) -> bool:
    try:
        rule, _ = current_app.url_map.bind("localhost").match(path, method="GET", return_rule=True)
    except HTTPException:
        return False
    return "<path:" not in rule.rule  # which answers for all that is no page


def _name() -> str:
    return f"{session.prefix()}finderfee-kept"
