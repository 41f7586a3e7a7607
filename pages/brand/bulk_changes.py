"""Bulk changes of the selected rows of a list, and their counts in the address of the list afterwards.

A decision that has an operation for one row is sent row by row: each row is a transaction with its own locks, audit
entry and event, as if it was decided on its own page, and a row that cannot change does not stop the others.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from flask import Response, request

from pages import api_client, forms, screens
from pages.api_client import ApiResult, View
from pages.forms import FormState

# How many rows one form may decide about; pages of lists have at most half as many.
_MAX_ROWS = 100
_DONE = "bulk"
# Reasons by the code of a refusal.
_REASONS: Mapping[str, str] = {
    "affiliate_not_approved": "affiliate",
    "invalid_status_transition": "status",
    "no_payout_account": "account",
    "not_found": "not_found",
    "payout_voided": "status",
}
_OTHER_REASON, _LATER = "refused", "later"
_MALFORMED, _TOO_MANY_REQUESTS, _SERVER_ERROR = 400, 429, 500


@dataclass(frozen=True, slots=True)
class BulkCounts:
    """How many rows an action affected, and how many were skipped for each reason."""

    action: str
    affected: int
    skipped: Sequence[tuple[str, int]] = ()


def decide_each(
    action: str, operation: View, *, rows: str, parameter: str, body: Mapping[str, Any]
) -> BulkCounts | FormState:
    """Call an operation for each selected row, whose id is the `parameter` of its address; return the counts.

    `rows` names them for the error of a form with none, or with too many.

    A repeated id counts once. A form that is sent twice acts once. If the API takes no more requests, the remaining
    rows are skipped. A malformed value is refused for the first row and changes nothing; the form has its error.
    Raises Refused if the person may not decide, and FreshLoginNeeded. Budget: the operation's round trips for each row.
    """
    ids = request.form.getlist("ids")
    if not 0 < len(ids) <= _MAX_ROWS:
        return forms.form_with_errors({}, f"Select 1 to {_MAX_ROWS} {rows}.")
    remaining = list(dict.fromkeys(ids))
    affected, skipped = 0, Counter[str]()
    while remaining:
        row_id = _uuid_or_none(remaining[0])
        answer = (
            api_client.call(operation, path={parameter: row_id}, body=body, key=_row_key(row_id)) if row_id else None
        )
        if answer is not None and _is_later(answer):
            skipped[_LATER] = len(remaining)
            break
        if answer is not None and answer.status == _MALFORMED:
            return forms.form_from_refusal(answer)
        remaining.pop(0)
        if answer is None:
            skipped["not_found"] += 1
        elif answer.refusal is None:
            affected += 1
        else:
            skipped[_reason(answer)] += 1
    return BulkCounts(action, affected, sorted(skipped.items()))


def redirect_with_counts(address: str, counts: BulkCounts) -> Response:
    """Return the redirect to a list in its filter, which shows the counts."""
    skipped = ",".join(f"{reason}:{number}" for reason, number in counts.skipped)
    query = urlencode({"done": _DONE, "action": counts.action, "affected": counts.affected, "skipped": skipped})
    return screens.redirect(f"{address}{'&' if '?' in address else '?'}{query}")


def read_counts(actions: Sequence[str]) -> BulkCounts | None:
    """Return the counts of the last bulk change from the address; None without one."""
    action = request.args.get("action", "")
    if request.args.get("done") != _DONE or action not in actions:
        return None
    skipped = [part.partition(":") for part in request.args.get("skipped", "").split(",") if part]
    return BulkCounts(
        action,
        _read_number(request.args.get("affected", "")),
        [(reason, _read_number(number)) for reason, _, number in skipped],
    )


def _row_key(row_id: UUID) -> str | None:
    key = forms.idempotency_key()
    return hashlib.sha256(f"{key} {row_id}".encode()).hexdigest() if key else None


def _is_later(answer: ApiResult) -> bool:
    return answer.status == _TOO_MANY_REQUESTS or answer.status >= _SERVER_ERROR


def _reason(answer: ApiResult) -> str:
    """Return why a row was skipped. Raises Refused if the person may not decide about any row."""
    assert answer.refusal is not None
    if answer.status in (401, 403):
        api_client.require_data(answer)
    return _REASONS.get(answer.refusal.code, _OTHER_REASON)


def _uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _read_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
