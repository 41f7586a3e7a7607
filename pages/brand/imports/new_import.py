"""A new import: the columns of another service's file, a preview row by row, then the import.

Nothing is written before the last button. A header with our names decides whether a file holds affiliates or
conversions; for any other header a person matches the columns.
The file travels packed in a hidden field of the form from the preview to the import: the server stores no customer
addresses that have to be sealed and deleted later, nothing expires between two clicks, and no script is needed. Who
changes the field changes their own import, which is validated again.
"""

import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, request

from api.imports.affiliates import import_affiliates, preview_affiliate_import
from api.imports.conversions import import_conversions, preview_conversion_import
from api.programs.programs import list_programs
from domain.imports import files
from domain.refusals import Refused
from pages import api_client, documents, forms, screens
from pages.api_client import ApiResult
from pages.brand import choices
from pages.brand.imports import column_form
from pages.brand.imports.column_form import ColumnForm
from pages.brand.imports.row_words import name_fields
from pages.form_pages import CustomForm, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("import_page", __name__)

_OPERATIONS = (preview_affiliate_import, import_affiliates, preview_conversion_import, import_conversions)
# Wrong rows that the page names; a file with more probably has one error in all of them.
_MAX_NAMED_ROWS = 100
_NAMES = {"programId": "program"}
# The source of conversions without one in the form.
_DEFAULT_SOURCE = "file"
_WAIT = "Too many imports in the last minute. Wait a minute, then press the button again."
_NO_CSV = "This is not a CSV file in UTF-8. In your spreadsheet program, save it as “CSV UTF-8”, and choose that file."
# The largest file, and the largest form with one, packed or not.
_MAX_FILE_BYTES = 2 * 1024 * 1024
_MAX_FORM_BYTES = 2 * _MAX_FILE_BYTES
_UNPROCESSABLE, _TOO_MANY = 422, 429
_TEMPLATES = {
    "affiliates": "email,fullName,status,walletEmail,slug\r\nada@example.com,Ada Ek,Approved,ada@example.com,ada\r\n",
    "conversions": (
        "affiliateEmail,amount,commission,currency,occurredAt,paid,customerEmail,processorCustomerId,externalId\r\n"
        "ada@example.com,49.00,9.80,USD,2025-12-31T14:00:00Z,false,zoe@example.com,cus_123,order-1001\r\n"
    ),
}


class UnusableUpload(ValueError):
    """The file is missing or unusable; the message is for people."""


def _read_upload() -> str:
    """Return the text of this request's file, chosen or packed. Raises UnusableUpload."""
    request.max_form_memory_size = _MAX_FORM_BYTES  # a packed file is an ordinary field
    field = request.form.get("packed")
    if field:
        return _decode(_unpack(field))
    chosen = request.files.get("file")
    try:
        if chosen is None or not chosen.filename:
            raise UnusableUpload("Choose a file.")
        return _decode(chosen.read(_MAX_FILE_BYTES + 1))
    finally:
        request.close()  # deletes the temporary file of a large upload


def pack(text: str) -> str:
    """Return a file as the value of a hidden field. At level 9 zlib takes 30 times as long for some texts."""
    return base64.b64encode(zlib.compress(text.encode())).decode()


def _unpack(field: str) -> bytes:
    try:
        return zlib.decompressobj().decompress(base64.b64decode(field, validate=True), _MAX_FILE_BYTES + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise UnusableUpload("The file was not uploaded. Choose it again.") from error


def _decode(raw: bytes) -> str:
    if len(raw) > _MAX_FILE_BYTES:
        raise UnusableUpload(
            f"The file is larger than {_MAX_FILE_BYTES // 1024 // 1024} MiB. Split it into smaller ones."
        )
    if not raw.strip():
        raise UnusableUpload("The file is empty.")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise UnusableUpload(_NO_CSV) from error
    if "\0" in text:
        raise UnusableUpload(_NO_CSV)
    return text


def _handle_file() -> Response | FormState:
    """Show the preview of the file, or import it. Budget: 2 round trips and those of its operation."""
    try:
        text = _read_upload()
        match = column_form.read_form(text) if column_form.needs_matching(text) else None
        kind = match.kind if match else files.detect_kind(text)
    except (UnusableUpload, files.UnreadableFile) as unusable:
        return forms.form_with_errors({"file": str(unusable)})
    if match and ("matched" not in request.form or match.errors):
        status = _UNPROCESSABLE if match.errors else None
        return _render_form(forms.form_from_request(), match=match, again=_hidden_fields(text), status=status)
    mapping: dict[str, Any] = match.body() if match else {}
    is_import = request.form.get("do") == "import"
    answer = _import(kind, text, mapping) if is_import else _preview(kind, text, mapping)
    if answer.refusal is not None:
        again = _hidden_fields(text) if is_import or match or answer.status == _TOO_MANY else None
        return _render_form(_form_from_refusal(answer), again=again, match=match if not is_import else None)
    if is_import:
        return screens.redirect(f"/dashboard/imports/{answer.data['jobId']}")
    return _render_form(forms.form_from_request(), look=_summarize(kind, answer.data), again=_hidden_fields(text))


def _preview(kind: files.Kind, text: str, mapping: dict[str, Any]) -> ApiResult:
    if kind == "Affiliates":
        return api_client.call(preview_affiliate_import, body=_import_body(text) | mapping)
    return api_client.call(preview_conversion_import, body=_sales_body(text) | mapping)


def _import(kind: files.Kind, text: str, mapping: dict[str, Any]) -> ApiResult:
    if kind == "Affiliates":
        body = _import_body(text) | mapping | {"notifyAffiliates": "notify" in request.form}
        return api_client.call(import_affiliates, body=body, key=forms.idempotency_key())
    body = (
        _sales_body(text)
        | mapping
        | {
            "confirmUnpaidPayout": request.form.get("then") == "payable",
            "skipInvalid": "skip" in request.form,
        }
    )
    return api_client.call(import_conversions, body=body, key=forms.idempotency_key())


def _import_body(text: str) -> dict[str, Any]:
    return {"programId": request.form.get("program", ""), "file": text}


def _sales_body(text: str) -> dict[str, Any]:
    return _import_body(text) | {"source": request.form.get("source", "").strip().lower() or _DEFAULT_SOURCE}


def _hidden_fields(text: str) -> list[tuple[str, str]]:
    """Return the hidden fields with which the next form sends the same file."""
    fields = [(name, request.form[name]) for name in ("program", "skip", "source") if name in request.form]
    return [*fields, *column_form.list_hidden_fields(), ("packed", pack(text))]


def _summarize(kind: files.Kind, preview: Mapping[str, Any]) -> Mapping[str, object]:
    """Return a summary of a preview: counts, the first wrong rows and warnings, and money by currency."""
    counts = Counter(row["outcome"] for row in preview["rows"])
    wrong = [row for row in preview["rows"] if row["outcome"] == "wrong"]
    warnings = [(row["line"], warning["message"]) for row in preview["rows"] for warning in row["warnings"]]
    is_left_out = "skip" in request.form
    return {
        "kind": kind,
        "new": counts["new"],
        "known": counts["known"],
        "wrong": 0 if is_left_out else len(wrong),
        "left_out": counts["leftOut"] + preview["understood"]["leftOut"] + (len(wrong) if is_left_out else 0),
        "named": [(row["line"], name_fields(row["message"])) for row in wrong[:_MAX_NAMED_ROWS]],
        "unnamed": max(0, len(wrong) - _MAX_NAMED_ROWS),
        "warnings": [(line, name_fields(message)) for line, message in warnings[:_MAX_NAMED_ROWS]],
        "more_warnings": max(0, len(warnings) - _MAX_NAMED_ROWS),
        "understood": preview["understood"],
        "paid": _cents_by_currency(preview.get("paidBalance", ())),
        "unpaid": _cents_by_currency(preview.get("unpaidBalance", ())),
    }


def _cents_by_currency(balances: Any) -> dict[str, int]:
    return {balance["currency"]: balance["commissionCents"] for balance in balances}


def _form_from_refusal(answer: ApiResult) -> FormState:
    """Return the sent values with the API's errors; errors of rows appear below the file."""
    assert answer.refusal is not None
    errors = {_NAMES.get(name, name): message for name, message in answer.refusal.fields.items()}
    at_fields = {name: message for name, message in errors.items() if name in ("program", "file", "source")}
    alert = _WAIT if answer.status == _TOO_MANY else answer.refusal.message or " ".join(errors.values())
    return FormState(forms.form_from_request().values, at_fields, None if at_fields else alert, status=answer.status)


@form_page(
    blueprint,
    "member",
    "/dashboard/imports/new",
    CustomForm("", _handle_file, _OPERATIONS, _MAX_FORM_BYTES),
    uses=(list_programs,),
)
def show_new_import(form: FormState | None) -> Response:
    """Show the form for a file. Budget: 1 round trip."""
    return _render_form(form or forms.prefill(program=request.args.get("program")))


def _render_form(
    form: FormState,
    *,
    look: Mapping[str, object] | None = None,
    match: ColumnForm | None = None,
    again: Sequence[tuple[str, str]] | None = None,
    status: int | None = None,
) -> Response:
    if not api_client.is_allowed(preview_conversion_import):
        raise Refused(403)
    return screens.render(
        "brand/imports/new.html",
        form,
        status=status,
        programs=choices.list_program_choices(),
        look=look,
        match=match,
        again=again,
    )


@blueprint.get("/dashboard/imports/template/affiliates.csv", defaults={"kind": "affiliates"})
@blueprint.get("/dashboard/imports/template/conversions.csv", defaults={"kind": "conversions"})
@screen("member")
def show_template(kind: str) -> Response:
    """Return a file with our columns and an example row."""
    headers = {
        **documents.page_headers(),
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{kind}.csv"',
    }
    return Response(_TEMPLATES[kind], headers=headers)
