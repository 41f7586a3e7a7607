"""The parts of exported files of a switch.

A part is the file itself (text/csv), so that it needs no memory beyond its own size.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, jsonify, request

from adapters import clock
from api.access import guards
from api.access.guards import KIB
from api.edge import audit, idempotency
from api.edge.operations import array, object_of, operation
from api.switches import records
from domain.refusals import Refused
from domain.switches.files.file_fields import MAX_PARTS
from models import db
from pipelines.switches.files import file_previews, part_storage
from pipelines.switches.files.file_previews import FileCollection, FilePreviewRow
from schemas.switches.files import FILE_COLLECTIONS, SwitchFilePart, SwitchFileRecord

blueprint = Blueprint("switch_files", __name__)

_MAX_PART_BYTES = 16 * 1024 * KIB
_UPLOAD = replace(records.WRITE, max_body_bytes=_MAX_PART_BYTES)
_PARTS = f"Parts are numbered from 1 to {MAX_PARTS}."
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_PART = SwitchFilePart()
_FILES = SwitchFileRecord()


@blueprint.get("/api/v1/switches/<switch_id>/files")
@operation(records.READ, array(_FILES), refuses=("404 not_found", "409 switch_not_files"))
def list_switch_files(switch_id: str) -> Response:
    """List the files of a switch by collection: columns, words, what is missing, and ten rows as they will be."""
    id, organization_id = records.parse_id(switch_id), guards.organization_id()
    with db.unit_of_work(organization_id):
        records.require(id)
        collections = file_previews.list_collections(organization_id=organization_id, switch_id=id)
        names = [files_of.collection for files_of in collections]
        rows = file_previews.preview_rows(
            organization_id=organization_id, switch_id=id, collections=names, now=clock.now()
        )
        return jsonify([_serialize(files_of, rows[files_of.collection]) for files_of in collections])


def _serialize(files_of: FileCollection, rows: Sequence[FilePreviewRow]) -> dict[str, Any]:
    values = {name: getattr(files_of, name) for name in FileCollection.__dataclass_fields__}
    parts = [{"part": part, "rows": count} for part, count in files_of.parts.items()]
    record: dict[str, Any] = _FILES.dump(values | {"parts": parts, "preview": rows})
    return record


@blueprint.put("/api/v1/switches/<switch_id>/files/<collection>/<part>")
@operation(
    _UPLOAD,
    object_of(_PART),
    takes_as=("text/csv",),
    refuses=(
        "400 invalid_request",
        "404 not_found",
        "409 switch_not_files",
        "409 switch_not_changeable",
        "413 payload_too_large",
        "422 unreadable_file",
    ),
)
def put_switch_file(switch_id: str, collection: str, part: str) -> Response:
    """Store a part of an exported file, 1 to 64, in place of the one with its number. 200 with its columns.

    The body is the file itself: CSV in UTF-8, at most 16 MiB. `suggested` names the likely column of each field.
    """
    id, number = records.parse_id(switch_id), _parse_part(collection, part)
    if number > MAX_PARTS:
        raise Refused(400, "invalid_request", _PARTS, field="part")
    content = request.get_data(cache=True)
    return idempotency.run_once(lambda: (200, _store(id, collection, number, content)))


@blueprint.delete("/api/v1/switches/<switch_id>/files/<collection>/<part>")
@operation(
    records.WRITE,
    status=204,
    refuses=("404 not_found", "409 switch_not_files", "409 switch_not_changeable"),
)
def delete_switch_file(switch_id: str, collection: str, part: str) -> Response:
    """Delete a part of an exported file with its rows. 204.

    With the last part of a collection the columns and words of that collection are deleted too.
    """
    id, number, now = records.parse_id(switch_id), _parse_part(collection, part), clock.now()
    organization_id = guards.organization_id()
    with db.unit_of_work(organization_id):
        part_storage.delete_part(
            organization_id=organization_id, switch_id=id, collection=collection, part=number, now=now
        )
        audit.record("switch.changed", id, after={"files": {collection: {"part": number, "rows": None}}}, now=now)
    return Response(status=204)


def _parse_part(collection: str, part: str) -> int:
    """Return the number of a part in an address. Raises Refused 404 not_found, also for an unknown collection."""
    if collection not in FILE_COLLECTIONS:
        names = ", ".join(FILE_COLLECTIONS)
        raise Refused(404, "not_found", f"There are no files of this name. Files are: {names}.")
    if not _NUMBER.fullmatch(part):
        raise Refused(404, "not_found", _PARTS)
    return int(part)


def _store(switch_id: UUID, collection: str, part: int, content: bytes) -> dict[str, Any]:
    now = clock.now()
    stored = part_storage.store_part(
        organization_id=guards.organization_id(),
        switch_id=switch_id,
        collection=collection,
        part=part,
        data=content,
        now=now,
    )
    # The words and headings of a file may be personal data; the audit log stores what was sent, not its content.
    after = {"files": {collection: {"part": part, "rows": stored.rows}}}
    audit.record("switch.changed", switch_id, after=after, now=now)
    return _PART.dump(stored)
