"""The files of a switch: parts that are sent one by one, the column of each field, and what words mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, request

from api.switches.files import delete_switch_file, list_switch_files, put_switch_file
from api.switches.switches import change_switch
from domain.refusals import Refused
from domain.switches.files import column_suggestions, file_fields
from domain.switches.files.file_fields import MAX_PARTS, WITHOUT_WORD, WORD_FIELDS, normalize_heading
from pages import api_client, forms, screens
from pages.brand.switches import file_rows, switch_words
from pages.form_pages import CustomForm, send
from pages.forms import FormState

#: The largest part, and the largest form with one.
MAX_PART_BYTES = file_fields.MAX_PART_BYTES
_MAX_FORM_BYTES = MAX_PART_BYTES + 64 * 1024
_COLUMN, _THEIRS, _OURS, _WITHOUT_WORD = "col-", "theirs", "ours", "without-word"
_TOO_LARGE = f"The file is larger than {MAX_PART_BYTES // 1024 // 1024} MiB. Split it, and upload the parts one by one."

_Files = Mapping[str, Any]


def list_files(switch: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the files of a switch with source files, each with its fields in words; none for other sources."""
    if switch["source"] != "files" or switch["state"] not in ("Connected", "Ready"):
        return ()
    return [_describe(files) for files in _list_files(switch["id"])]


def _list_files(switch_id: str) -> Sequence[_Files]:
    listed: Sequence[_Files] = api_client.require(list_switch_files, path={"switch_id": switch_id})
    return listed


def _find_files(switch_id: str, collection: str) -> _Files | None:
    return next((files for files in _list_files(switch_id) if files["collection"] == collection), None)


def _describe(files: _Files) -> Mapping[str, Any]:
    name, columns = files["collection"], files["columns"]
    used = {normalize_heading(heading) for heading in columns.values()}
    without_word = _describe_without_word(files)
    is_uploaded = request.args.get("done") == "uploaded" and request.args.get("files") == name
    return {
        **files,
        "label": switch_words.FILES[name],
        "fields": {field: switch_words.describe(switch_words.FIELDS, field) for field in file_fields.FIELDS[name]},
        "chosen": columns or files["suggested"],
        "unused": [heading for heading in files["header"] if heading and normalize_heading(heading) not in used],
        "meanings": {word: switch_words.MEANINGS.get(word, word) for word in file_fields.WORDS.get(name, ())},
        "without_word": without_word,
        "is_open": is_uploaded
        or bool(files["missing"] or not columns or (without_word and not without_word["is_confirmed"])),
        "shown": file_rows.list_columns(files),
        "preview": file_rows.list_rows(files),
    }


def _describe_without_word(files: _Files) -> Mapping[str, Any] | None:
    """Return what all rows of a file without a column of states mean; None if it has one, or no such field."""
    field = WORD_FIELDS.get(files["collection"])
    if field is None or field in files["columns"] or not files["words"]:
        return None
    [word] = files["words"]
    meaning = word["meaning"] or word["suggested"]
    return {
        "meaning": meaning,
        "text": switch_words.MEANINGS.get(meaning, meaning),
        "is_confirmed": word["meaning"] is not None,
    }


def _upload(switch_id: str) -> Response | FormState:
    """Store the chosen file as a part. If its header is another one, choose the suggested columns and meanings."""
    path = {"switch_id": switch_id}
    collection, part = request.form.get("collection", ""), request.form.get("part", "").strip() or "1"
    if not (part.isascii() and part.isdigit() and 1 <= int(part[:9]) <= MAX_PARTS):
        return forms.form_with_errors({"part": f"Enter a number from 1 to {MAX_PARTS}."}, form_id="file-")
    content = forms.read_file("file", MAX_PART_BYTES)
    if not content:
        return forms.form_with_errors({"file": "Choose a file."}, form_id="file-")
    if len(content) > MAX_PART_BYTES:
        return forms.form_with_errors({"file": _TOO_LARGE}, form_id="file-")
    former = _find_files(switch_id, collection)
    answer = api_client.send_file(
        put_switch_file,
        content,
        path={**path, "collection": collection, "part": int(part)},
        key=forms.idempotency_key(),
    )
    if answer.refusal is not None:
        if answer.status in (403, 429):
            api_client.require_data(answer)
        return forms.form_with_errors({"file": answer.refusal.message or "This file can't be read."}, form_id="file-")
    _choose_suggested(switch_id, former, answer.data)
    _choose_meanings(switch_id, collection)
    return screens.redirect(f"/dashboard/switch/{switch_id}?done=uploaded&files={collection}#files-{collection}")


def _choose_suggested(switch_id: str, former: _Files | None, part: Mapping[str, Any]) -> None:
    """Choose the columns of an uploaded part whose header is another one than that of the `former` files.

    What a person chose stays if its heading still exists.
    """
    collection = part["collection"]
    headings = {normalize_heading(heading) for heading in part["header"]}
    if former is not None and former["columns"] and headings == {*map(normalize_heading, former["header"])}:
        return
    files = _find_files(switch_id, collection)
    if files is None:
        return
    is_own_choice = former is not None and former["columns"] != former["suggested"]
    chosen = files["columns"] if is_own_choice else {}
    columns = column_suggestions.choose_again(chosen, part["suggested"], [*files["header"], *part["header"]])
    if columns != files["columns"]:
        api_client.call(change_switch, path={"switch_id": switch_id}, body={"columns": {collection: columns}})


def _choose_meanings(switch_id: str, collection: str) -> None:
    """Choose the suggested meaning of the words that have none yet, as the page shows it."""
    files = _find_files(switch_id, collection) if collection in WORD_FIELDS else None
    if files is None or WORD_FIELDS[collection] not in files["columns"]:
        return
    words = {word["word"]: word["meaning"] or word["suggested"] for word in files["words"] if word["word"]}
    if any(word["meaning"] is None and words.get(word["word"]) for word in files["words"]):
        meanings = {theirs: ours for theirs, ours in words.items() if ours}
        empty = {word["word"]: word["meaning"] for word in files["words"] if not word["word"] and word["meaning"]}
        body = {"words": {collection: meanings | empty}}
        api_client.call(change_switch, path={"switch_id": switch_id}, body=body)


def _choose_columns(switch_id: str) -> Response | FormState:
    """Store the chosen columns and meanings of one collection."""
    collection = request.form.get("collection", "")
    if collection not in file_fields.FIELDS:
        raise Refused(404, "not_found", "There are no such files.")
    chosen = {field: request.form.get(f"{_COLUMN}{field}", "") for field in file_fields.FIELDS[collection]}
    columns = {field: name for field, name in chosen.items() if name}
    body: dict[str, Any] = {"columns": {collection: columns}}
    if (words := _read_words(collection, columns)) is not None:
        body["words"] = {collection: words}
    answer = send(change_switch, path={"switch_id": switch_id}, body=body)
    if answer.refusal is not None:
        return forms.form_with_errors({}, answer.refusal.message, form_id="columns-")
    if not request.form.getlist(_THEIRS):
        _choose_meanings(switch_id, collection)
    return screens.redirect(f"/dashboard/switch/{switch_id}?done=columns#files-{collection}")


def _read_words(collection: str, columns: Mapping[str, str]) -> dict[str, str] | None:
    """Return the meanings of words in the form; None if it has none.

    What all rows mean without a column of states does not count for the empty cells of a column.
    """
    if collection in WITHOUT_WORD and _WITHOUT_WORD in request.form:
        ours = request.form[_WITHOUT_WORD]
        return {"": ours} if ours and WORD_FIELDS[collection] not in columns else {}
    words = dict(zip(request.form.getlist(_THEIRS), request.form.getlist(_OURS), strict=False))
    return {theirs: ours for theirs, ours in words.items() if ours} if words else None


def _remove(switch_id: str) -> Response | FormState:
    """Remove an uploaded part with its rows."""
    collection, part = request.form.get("collection", ""), request.form.get("part", "")
    answer = send(delete_switch_file, path={"switch_id": switch_id, "collection": collection, "part": part})
    if answer.refusal is not None:
        return forms.form_with_alert(answer)
    return screens.redirect(f"/dashboard/switch/{switch_id}?done=removed")


FORMS = (
    CustomForm("/files", _upload, (put_switch_file, change_switch), _MAX_FORM_BYTES),
    CustomForm("/columns", _choose_columns, (change_switch,)),
    CustomForm("/remove-file", _remove, (delete_switch_file,)),
)
