"""A form that waits while its person logs in again: operations on money and credentials require a fresh login.

The values are sealed in a cookie for 15 minutes; only the same person gets them back, on the page of the form. They are
never in an address.
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
# Browsers store a cookie of 4,096 bytes including its name and attributes.
_MAX_COOKIE_BYTES = 3_800


def page_of_form() -> str:
    """Return the address of the page whose form this request sends: from its hidden `_page`, or its own."""
    page_field = request.form.get("_page", "")
    if navigation.is_own_path(page_field):
        return page_field
    if _is_page(request.path):
        return request.full_path.removesuffix("?")
    person = session.find_person()
    return navigation.area_of(person).home if person else "/sign-in"


def save(answer: Response) -> None:
    """Store the form of this request in a cookie. A form that is too long for one is not stored."""
    values = {name: typed for name, typed in request.form.lists() if not name.startswith("_")}
    sealed = saved_forms.seal(SavedForm(page_of_form(), values), owner=_owner_of_person(session.require_person()))
    if len(sealed) <= _MAX_COOKIE_BYTES:
        lasts_s = int(saved_forms.LIFETIME.total_seconds())
        is_secure = session.is_secure()
        answer.set_cookie(_cookie_name(), sealed, lasts_s, path=_PATH, secure=is_secure, httponly=True, samesite="Lax")


def restore() -> FormState | None:
    """Return the form that this person typed into this page before a fresh login, once; None without one."""
    person = session.find_person()
    pending = _load(_owner_of_person(person)) if person else None
    if pending is None or pending.page.partition("?")[0] != request.path:
        return None
    g.kept_was_used = True
    return FormState(pending.values)


def find_page(owner: str) -> str | None:
    """Return the address of the page whose form waits for this owner."""
    pending = _load(owner)
    return pending.page if pending and navigation.is_own_path(pending.page) else None


def exists() -> bool:
    """Return whether a form of any person waits in this browser."""
    return _cookie_name() in request.cookies


def form_owner(kind: str, subject: str, organization_id: UUID | None) -> str:
    """Return the owner of a form: a person in one organization."""
    return f"{kind} {organization_id or ''} {subject}"


def delete_restored(answer: Response) -> None:
    """Delete the cookie of a form that this request restored."""
    if g.get("kept_was_used"):
        delete(answer)


def delete(answer: Response) -> None:
    """Delete the cookie of a waiting form."""
    if exists():
        answer.delete_cookie(_cookie_name(), path=_PATH, secure=session.is_secure(), httponly=True, samesite="Lax")


def _owner_of_person(person: Person) -> str:
    return form_owner(person.kind, person.subject, person.member.organization_id if person.member else None)


def _load(owner: str) -> SavedForm | None:
    sealed = request.cookies.get(_cookie_name())
    return saved_forms.unseal(sealed, owner=owner) if sealed else None


def _is_page(path: str) -> bool:
    try:
        rule, _ = current_app.url_map.bind("localhost").match(path, method="GET", return_rule=True)
    except HTTPException:
        return False
    return "<path:" not in rule.rule  # the route of unknown addresses


def _cookie_name() -> str:
    return f"{session.cookie_prefix()}finderfee-kept"
