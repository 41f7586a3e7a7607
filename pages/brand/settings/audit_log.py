"""The audit log: each entry with its actor and its changes, before and after."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, request

from api.organization.audit_log import list_audit_log
from api.organization.members import list_members
from domain.money import wording
from pages import api_client, forms, screens, template_filters
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("audit_log_page", __name__)

_HERE = "/dashboard/audit-log"
_FILTERS = ("action", "entityType", "actorUserId", "since", "until")
_ENTRIES = RowList(list_audit_log, _FILTERS, days=("since", "until"), marks_fields=True)
_PER_PAGE = 50
# Callers without a name of their own.
_ACTORS = {
    "affiliate": "Affiliate",
    "api_key": "API key",
    "flask": "Command line",
    "operator": "Operator",
    "public": "Public page",
    "system": "System",
}
_MAX_DIGITS = 6
# Instants in entries, as the API writes them.
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|\+00:00)")


@dataclass(frozen=True, slots=True)
class AuditChange:
    """A changed field with its value before and after."""

    name: str
    before: str
    after: str


@blueprint.get(_HERE)
@screen("member", uses=(list_audit_log, list_members))
def show_audit_log() -> Response:
    """Show entries, newest first, by the filter in the address. Budget: 4 round trips, however many there are."""
    number = _read_page_number()
    query = {"page": number, "pageSize": _PER_PAGE, "format": "json"}
    answer = api_client.call(list_audit_log, query=_ENTRIES.filter_query() | query)
    if answer.status == 403:
        api_client.require_data(answer)
    form = _ENTRIES.form_from_refusal(answer) if answer.refusal else forms.form_from_query()
    page = answer.data or {"items": [], "total": 0}
    return screens.render(
        "brand/settings/audit_log.html",
        form,
        actor=_describe_actor,
        entries=[(entry, _list_changes(entry)) for entry in page["items"]],
        total=page["total"],
        people=[(member["id"], member["email"]) for member in api_client.require(list_members)],
        next_cursor=str(number + 1) if page["total"] > number * _PER_PAGE else None,
        is_narrowed=_ENTRIES.is_narrowed(),
        file=_ENTRIES.filtered_address(f"{_HERE}/export.csv"),
    )


@blueprint.get(f"{_HERE}/export.csv")
@screen("member", uses=(list_audit_log,))
def show_audit_file() -> Response:
    """Stream the log as a file; a refused filter redirects to the page."""
    return _ENTRIES.send_file(list_audit_log, back=_HERE, format="csv")


def _describe_actor(entry: Mapping[str, Any]) -> str:
    """Return who made a change: the name in the entry, or the kind of caller."""
    label = str(entry["actorLabel"] or entry["actorType"])
    return _ACTORS.get("api_key" if label.startswith("API key ") else label, label)


def _read_page_number() -> int:
    typed = request.args.get("cursor", "")
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= _MAX_DIGITS
    return max(int(typed), 1) if is_number else 1


def _list_changes(entry: Mapping[str, Any]) -> Sequence[AuditChange]:
    """Return the changes of an entry; all its fields if it has no state before."""
    before, after = entry["before"] or {}, entry["after"] or {}
    names = dict.fromkeys([*before, *after])
    return [
        AuditChange(name, _describe(before.get(name)), _describe(after.get(name)))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _describe(value: object) -> str:
    """Return a value in words; an empty one is a dash."""
    if value is None or value in ("", [], {}):
        return wording.DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{template_filters.state_words(name)}: {_describe(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(_describe(inner) for inner in value)
    return template_filters.describe_time(value) if isinstance(value, str) and _INSTANT.fullmatch(value) else str(value)
