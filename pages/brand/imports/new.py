"""A new import: a file is looked at row by row, wrong rows are mended or left out, and then it is imported.

Until the last button nothing is written. The header of a file decides whether it holds affiliates or conversions.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from api.imports.affiliates import import_affiliates, preview_affiliate_import
from api.imports.conversions import import_conversions, preview_conversion_import
from api.programs.programs import list_programs
from domain.imports import files
from domain.refused import Refused
from pages import api_client, forms, screens
from pages.api_client import ApiResult
from pages.brand import choices
from pages.brand.imports import upload
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState

blueprint = Blueprint("import_page", __name__)

_OPERATIONS = (preview_affiliate_import, import_affiliates, preview_conversion_import, import_conversions)
#: So many wrong rows are named on the page; whoever has more has something to mend in all of them.
_MOST_NAMED = 100
_NAMES = {"programId": "program"}
#: What conversions of a file come from where the form does not say it.
_SOURCE = "file"
_WAIT = "There were many imports in this minute. Wait a moment, then press the button again."


def _take_file() -> Response | FormState:
    """Show what an import of the file would do, or import it. Budget: 2 round trips besides those of its operation."""
    try:
        text = upload.text()
        kind = files.kind(text)
    except (upload.UnusableUpload, files.UnreadableFile) as unusable:
        return forms.form_with_errors({"file": str(unusable)})
    is_import = request.form.get("do") == "import"
    answer = _import(kind, text) if is_import else _preview(kind, text)
    if answer.refusal is not None:
        return _show(_form_from_refusal(answer), again=_hidden_fields(text) if is_import else None)
    if is_import:
        return screens.redirect(f"/dashboard/imports/{answer.data['jobId']}")
    return _show(forms.form_from_request(), look=_summarize(kind, answer.data), again=_hidden_fields(text))


def _preview(kind: files.Kind, text: str) -> ApiResult:
    if kind == "Affiliates":
        return api_client.call(preview_affiliate_import, body=_body(text))
    return api_client.call(preview_conversion_import, body=_sales_body(text))


def _import(kind: files.Kind, text: str) -> ApiResult:
    if kind == "Affiliates":
        body = _body(text) | {"notifyAffiliates": "notify" in request.form}
        return api_client.call(import_affiliates, body=body, key=forms.idempotency_key())
    body = _sales_body(text) | {
        "confirmUnpaidPayout": request.form.get("then") == "payable",
        "skipInvalid": "skip" in request.form,
    }
    return api_client.call(import_conversions, body=body, key=forms.idempotency_key())


def _body(text: str) -> dict[str, Any]:
    return {"programId": request.form.get("program", ""), "file": text}


def _sales_body(text: str) -> dict[str, Any]:
    return _body(text) | {"source": request.form.get("source", "").strip().lower() or _SOURCE}


def _hidden_fields(text: str) -> Mapping[str, str]:
    """Return the hidden fields by which the next form brings the same file."""
    fields = {name: request.form[name] for name in ("program", "skip", "source") if name in request.form}
    return fields | {"packed": upload.packed(text)}


def _summarize(kind: files.Kind, found: Mapping[str, Any]) -> Mapping[str, object]:
    """Return what the page says of a preview: counts, the first wrong rows and warnings, and money by currency."""
    counts = Counter(row["outcome"] for row in found["rows"])
    wrong = [row for row in found["rows"] if row["outcome"] == "wrong"]
    warnings = [(row["line"], warning) for row in found["rows"] for warning in row["warnings"]]
    is_left_out = "skip" in request.form
    return {
        "kind": kind,
        "new": counts["new"],
        "known": counts["known"],
        "wrong": 0 if is_left_out else len(wrong),
        "left_out": counts["leftOut"] + (len(wrong) if is_left_out else 0),
        "named": wrong[:_MOST_NAMED],
        "unnamed": max(0, len(wrong) - _MOST_NAMED),
        "warnings": warnings[:_MOST_NAMED],
        "more_warnings": max(0, len(warnings) - _MOST_NAMED),
        "understood": found["understood"],
        "paid": _by_currency(found.get("paidBalance", ())),
        "unpaid": _by_currency(found.get("unpaidBalance", ())),
    }


def _by_currency(balances: Any) -> dict[str, int]:
    return {balance["currency"]: balance["commissionCents"] for balance in balances}


def _form_from_refusal(answer: ApiResult) -> FormState:
    """Return what was sent with what the API found wrong; errors of rows appear below the file."""
    assert answer.refusal is not None
    errors = {_NAMES.get(name, name): message for name, message in answer.refusal.fields.items()}
    at_fields = {name: message for name, message in errors.items() if name in ("program", "file", "source")}
    alert = _WAIT if answer.status == 429 else answer.refusal.message or " ".join(errors.values())
    return FormState(forms.form_from_request().values, at_fields, None if at_fields else alert, status=answer.status)


@form_page(
    blueprint,
    "member",
    "/dashboard/imports/new",
    CustomForm("", _take_file, _OPERATIONS, upload.MOST_FORM_BYTES),
    uses=(list_programs,),
)
def show_new_import(form: FormState | None) -> Response:
    """Show the form for a file. Budget: 1 round trip."""
    return _show(form or forms.prefill(program=request.args.get("program")))


def _show(
    form: FormState, *, look: Mapping[str, object] | None = None, again: Mapping[str, str] | None = None
) -> Response:
    if not api_client.is_allowed(preview_conversion_import):
        raise Refused(403)
    return screens.render("brand/imports/new.html", form, programs=choices.programs(), look=look, again=again)
