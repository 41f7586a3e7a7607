"""Who did what: each entry with what it changed, from what to what."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from api.organization.audit_log import list_audit_log
from api.organization.members import list_members
from domain.money import wording
from domain.refused import Refused
from pages import calls, forms, screens, show
from pages.forms import FormState
from pages.screens import screen
from pages.times import entered

blueprint = Blueprint("audit_log_page", __name__)

_HERE = "/dashboard/audit-log"
_FILTERS = ("action", "entityType", "actorUserId", "since", "until")
_PER_PAGE = 50
_MOST_DIGITS = 6
# Instants in entries, as the API writes them.
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|\+00:00)")


@dataclass(frozen=True, slots=True)
class AuditChange:
    """A field that was changed, and how it reads before and after."""

    name: str
    before: str
    after: str


@blueprint.get(_HERE)
@screen("member", uses=(list_audit_log, list_members))
def show_audit_log() -> Response:
    """Show entries, newest first, by the filter in the address. Budget: 4 round trips, however many there are."""
    number = _page_number()
    answer = calls.call(list_audit_log, query=_wanted() | {"page": number, "pageSize": _PER_PAGE, "format": "json"})
    if answer.status == 403 and answer.refusal is not None:
        raise Refused(403, answer.refusal.code, answer.refusal.message)
    form = forms.EMPTY
    if answer.refusal is not None:
        form = FormState(errors=answer.refusal.fields, alert=None if answer.refusal.fields else answer.refusal.message)
    found = answer.data or {"items": [], "total": 0}
    return screens.show(
        "brand/settings/audit_log.html",
        status=answer.status,
        form=form,
        narrowed=FormState(forms.asked().values, form.errors),
        entries=[(entry, _changes(entry)) for entry in found["items"]],
        total=found["total"],
        people=[(one["id"], one["email"]) for one in calls.needed(list_members)],
        next_cursor=str(number + 1) if found["total"] > number * _PER_PAGE else None,
        is_narrowed=any(_wanted().values()) or number > 1,
        file=f"{_HERE}/export.csv?{urlencode({name: value for name, value in _asked().items() if value})}",
    )


@blueprint.get(f"{_HERE}/export.csv")
@screen("member", uses=(list_audit_log,))
def show_audit_file() -> Response:
    """Give the log as a file, in pieces; a filter that says nothing sensible is mended on the page."""
    try:
        return calls.passed_on(list_audit_log, query=_wanted() | {"format": "csv"})
    except Refused as refused:
        if refused.status != 400:
            raise
        return screens.sent_on(_HERE)


def _wanted() -> dict[str, str | None]:
    """Return the query of the API: days are read in the zone of the page."""
    asked = _asked()
    return asked | {name: entered.day_start(asked[name]) for name in ("since", "until")}


def _asked() -> dict[str, str | None]:
    """Return the filter as it stands in the address."""
    return {name: request.args.get(name, "").strip() or None for name in _FILTERS}


def _page_number() -> int:
    typed = request.args.get("cursor", "")
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= _MOST_DIGITS
    return max(int(typed), 1) if is_number else 1


def _changes(entry: Mapping[str, Any]) -> Sequence[AuditChange]:
    """Return what an entry says has changed; all that it says where it has no before."""
    before, after = entry["before"] or {}, entry["after"] or {}
    names = dict.fromkeys([*before, *after])
    return [
        AuditChange(name, _said(before.get(name)), _said(after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _said(value: object) -> str:
    """Return a value in words; what is not there is a dash."""
    if value is None or value in ("", [], {}):
        return wording.NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_said(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_said(inner) for inner in value)
    return show.words(value) if isinstance(value, str) and _INSTANT.fullmatch(value) else str(value)
