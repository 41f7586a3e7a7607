"""The files of a switch: parts that are sent one by one, the column of each field, and what words mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, request

from api.switches.files import list_switch_files, put_switch_file
from api.switches.switches import change_switch
from domain.refusals import Refused
from domain.switches.files import file_fields
from pages import api_client, forms, screens
from pages.brand.switches import switch_words
from pages.form_pages import CustomForm, send
from pages.forms import FormState

#: The largest part, and the largest form with one.
MAX_PART_BYTES = file_fields.MAX_PART_BYTES
_MAX_FORM_BYTES = MAX_PART_BYTES + 64 * 1024
_COLUMN, _THEIRS, _OURS = "col-", "theirs", "ours"
_TOO_LARGE = f"The file is larger than {MAX_PART_BYTES // 1024 // 1024} MiB. Split it, and upload the parts one by one."


def list_files(switch: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the files of a switch with source files, each with its fields in words; none for other sources."""
    if switch["source"] != "files" or switch["state"] not in ("Connected", "Ready"):
        return ()
    collections = api_client.require(list_switch_files, path={"switch_id": switch["id"]})
    return [_describe(files) for files in collections]


def _describe(files: Mapping[str, Any]) -> Mapping[str, Any]:
    name = files["collection"]
    fields = {field: switch_words.describe(switch_words.FIELDS, field) for field in file_fields.FIELDS[name]}
    filled = [field for field in fields if any(field in row["values"] for row in files["preview"])]
    return {
        **files,
        "label": switch_words.FILES[name],
        "fields": fields,
        "chosen": files["columns"] or files["suggested"],
        "meanings": {word: switch_words.MEANINGS.get(word, word) for word in file_fields.WORDS.get(name, ())},
        "shown": filled,
    }


def _upload(switch_id: str) -> Response | FormState:
    """Store the chosen file as a part, and choose the suggested columns if none were chosen yet."""
    path = {"switch_id": switch_id}
    collection, part = request.form.get("collection", ""), request.form.get("part", "").strip() or "1"
    content = forms.read_file("file", MAX_PART_BYTES)
    if not content:
        return forms.form_with_errors({"file": "Choose a file."}, form_id="file-")
    if len(content) > MAX_PART_BYTES:
        return forms.form_with_errors({"file": _TOO_LARGE}, form_id="file-")
    answer = api_client.send_file(
        put_switch_file, content, path={**path, "collection": collection, "part": part}, key=forms.idempotency_key()
    )
    if answer.refusal is not None:
        if answer.status in (403, 429):
            api_client.require_data(answer)
        return forms.form_with_errors({"file": answer.refusal.message or "This file can't be read."}, form_id="file-")
    _choose_suggested(switch_id, collection, answer.data["suggested"])
    return screens.redirect(f"/dashboard/switch/{switch_id}?done=uploaded#files-{collection}")


def _choose_suggested(switch_id: str, collection: str, suggested: Mapping[str, str]) -> None:
    """Choose the suggested columns of a collection that has none, so that the next page shows rows as they will be."""
    path = {"switch_id": switch_id}
    files = api_client.require(list_switch_files, path=path)
    if suggested and not any(row["columns"] for row in files if row["collection"] == collection):
        api_client.call(change_switch, path=path, body={"columns": {collection: dict(suggested)}})


def _choose_columns(switch_id: str) -> Response | FormState:
    """Store the chosen columns and meanings of one collection."""
    collection = request.form.get("collection", "")
    if collection not in file_fields.FIELDS:
        raise Refused(404, "not_found", "There are no such files.")
    chosen = {field: request.form.get(f"{_COLUMN}{field}", "") for field in file_fields.FIELDS[collection]}
    body: dict[str, Any] = {"columns": {collection: {field: name for field, name in chosen.items() if name}}}
    words = dict(zip(request.form.getlist(_THEIRS), request.form.getlist(_OURS), strict=False))
    if words:
        body["words"] = {collection: {theirs: ours for theirs, ours in words.items() if ours}}
    answer = send(change_switch, path={"switch_id": switch_id}, body=body)
    if answer.refusal is not None:
        return forms.form_with_errors({}, answer.refusal.message, form_id="columns-")
    return screens.redirect(f"/dashboard/switch/{switch_id}?done=columns#files-{collection}")


FORMS = (
    CustomForm("/files", _upload, (put_switch_file, change_switch), _MAX_FORM_BYTES),
    CustomForm("/columns", _choose_columns, (change_switch,)),
)
