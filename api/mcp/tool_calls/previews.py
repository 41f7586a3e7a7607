"""Previews of dangerous calls: their effect, shown before they are done, composed from the tools that only read."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson
from marshmallow import ValidationError

from api.edge import errors
from api.mcp.operation_calls import arguments, client, results
from api.mcp.operation_calls.arguments import PlacedArguments
from api.mcp.operation_calls.client import OperationClient, ToolAnswer
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from domain.refusals import Refused, not_found
from domain.text import one_line

_MAX_ROWS = 10
_MAX_TEXT_LENGTH = 200
_PLAN_REQUIRED = "plan_tier_required"
_PLAIN_LABEL = re.compile(r"[A-Za-z0-9]+")

#: The fields of a program whose change needs a confirmation: they decide what affiliates earn, or whether they do.
_TERMS = frozenset(
    {
        "defaultCommissionType",
        "defaultCommissionValue",
        "defaultCommissionModel",
        "saleCommissionType",
        "saleCommissionValue",
        "recurringMonths",
        "recurringDelayInvoices",
        "cookieWindowDays",
        "attributionModel",
        "leadBountyCents",
        "clickRewardCents",
        "minPayoutCents",
        "budgetCents",
        "isActive",
    }
)
_RATE_FIELDS = frozenset({"customCommissionType", "customCommissionValue", "partnerGroupId"})
_ENDING_STATUSES = ("Paused", "Rejected", "Banned")

# By argument, the tool that reads the id, its arguments, and the fields that a preview shows.
_READ_BY_ID: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "programId": ("get_program", ("programId",), ("name", "slug", "isActive")),
    "affiliateId": ("get_affiliate", ("affiliateId",), ("fullName", "email", "status")),
    "conversionId": (
        "get_conversion",
        ("conversionId",),
        ("amountCents", "commissionCents", "currency", "status", "occurredAt"),
    ),
    "couponId": (
        "get_campaign_coupon",
        ("programId", "couponId"),
        ("name", "discountType", "discountValue", "isActive"),
    ),
}


class PreviewUnavailable(Exception):
    """A preview cannot be built, so the call would be refused as well: the answer has the reason."""

    def __init__(self, answer: ToolAnswer):
        super().__init__(str(answer.data.get("error")))
        self.answer = answer


#: By tool and argument, the error of an unknown id in a body, where it is not `not_found`.
_NO_PROGRAM = ("program_not_found", "There is no such program in this organization.")
_NO_PROGRAM_TO_INVITE_TO = ("validation_failed", "There is no program with this id in the organization.")
_UNKNOWN_IDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("import_affiliates", "programId"): _NO_PROGRAM,
    ("import_conversions", "programId"): _NO_PROGRAM,
    ("invite_affiliate", "programId"): _NO_PROGRAM_TO_INVITE_TO,
    ("bulk_invite_affiliates", "programId"): _NO_PROGRAM_TO_INVITE_TO,
    ("create_conversion", "affiliateId"): (
        "affiliate_not_in_program",
        "The program has no affiliate with this id.",
    ),
}


def _error_of_operation(tool: str, argument: str, nothing: PreviewUnavailable) -> PreviewUnavailable:
    """Return the refusal of a read with the error that the tool's operation has for it."""
    error = _UNKNOWN_IDS.get((tool, argument))
    if error is None or nothing.answer.data.get("error") != "not_found":
        return nothing
    code, message = error
    return PreviewUnavailable(client.answer_from_refusal(Refused(400, code, message, field=argument)))


class PreviewReader:
    """Calls the tools that only read, whether the client may use them or not."""

    def __init__(self, tools: Mapping[str, BoundTool], operations: OperationClient) -> None:
        self._tools, self._operations = tools, operations

    def read(self, tool: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data of a tool, empty if the plan lacks it. Raises PreviewUnavailable for any other refusal."""
        bound = self._tools[tool]
        answer = self._operations.call(bound, arguments.place_arguments(bound, args))
        if answer.is_refusal and answer.data.get("error") != _PLAN_REQUIRED:
            raise PreviewUnavailable(answer)
        return {} if answer.is_refusal else answer.data


def needs_confirmation(bound: BoundTool, args: Mapping[str, Any], reader: PreviewReader) -> bool:
    """Return whether a call needs a confirmation. Its body may still be malformed. Raises PreviewUnavailable."""
    condition = _CONDITIONS.get(bound.tool.name)
    return condition is None or condition(args, reader)


def read_by_ids(ids: Iterable[str], args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    """Return the records of the ids of a call, by argument. Raises PreviewUnavailable, and Refused for invalid ids."""
    kinds = [kind for kind in ids if kind in _READ_BY_ID and isinstance(args.get(kind), str)]
    # A coupon is looked up within its program, so its refusal comes first when the program is another one.
    return {kind: _read_by_id(kind, args, reader) for kind in sorted(kinds, key=lambda kind: kind != "couponId")}


def build_preview(
    bound: BoundTool, args: Mapping[str, Any], about: Mapping[str, Any], reader: PreviewReader
) -> Mapping[str, Any]:
    """Return the preview of a well-formed call; `about` has the records of the ids in its path.

    Raises PreviewUnavailable, and Refused for invalid ids.
    """
    name = bound.tool.name
    for argument in bound.body:
        try:
            about = {**about, **read_by_ids([argument], args, reader)}
        except PreviewUnavailable as nothing:
            raise _error_of_operation(name, argument, nothing) from nothing
    more = _DETAILS[name](args, reader) if name in _DETAILS else {}
    called_with = {name: value for name, value in args.items() if name != CONFIRM_TOKEN}
    preview = _shorten({"arguments": called_with, "about": about, **more})
    return results.remove_nulls({"does": bound.tool.about, **preview})


def check_body(bound: BoundTool, placed: PlacedArguments) -> None:
    """Raise PreviewUnavailable with the operation's answer to a malformed body: the user is not asked about one."""
    takes = bound.operation.takes
    if takes is None:
        return
    try:
        takes.load(orjson.loads(placed.body) if placed.body else {})
    except ValidationError as error:
        raise PreviewUnavailable(client.answer_from_response(errors.validation_response(error))) from error


def render_text(preview: Mapping[str, Any]) -> str:
    """Return a preview as lines for a person: texts are quoted, so that none looks like a line of the server."""
    parts = {part: value for part, value in preview.items() if part != "does" and value}
    return "\n".join([str(preview["does"]), *_lines(parts, "")])


def _lines(data: Any, indent: str) -> list[str]:
    lines = []
    for name, value in data.items() if isinstance(data, Mapping) else enumerate(data, 1):
        label = name if isinstance(name, int) or _PLAIN_LABEL.fullmatch(name) else one_line.quote(name)
        if isinstance(value, Mapping | list):
            lines += [f"{indent}{label}:", *_lines(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{label}: {one_line.quote(value) if isinstance(value, str) else value}")
    return lines


def _read_by_id(kind: str, args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    tool, ids, fields = _READ_BY_ID[kind]
    if not all(isinstance(args.get(id), str) for id in ids):
        return {}
    return _pick(reader.read(tool, {id: args[id] for id in ids}), fields)


def _pick(data: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: data[name] for name in names if name in data}


def _shorten(value: Any) -> Any:
    """Return a value with each text on one line and cut, and each list with its first rows only."""
    if isinstance(value, str):
        return one_line.format_line(value, max_length=_MAX_TEXT_LENGTH)
    if isinstance(value, Mapping):
        return {
            one_line.format_line(name, max_length=_MAX_TEXT_LENGTH): _shorten(inner) for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        rows = [_shorten(row) for row in value[:_MAX_ROWS]]
        return rows if len(value) <= _MAX_ROWS else [*rows, f"and {len(value) - _MAX_ROWS} more"]
    return value


def _changes_terms(args: Mapping[str, Any], _: PreviewReader) -> bool:
    return not _TERMS.isdisjoint(args)


def _changes_rate_or_status(args: Mapping[str, Any], _: PreviewReader) -> bool:
    return not _RATE_FIELDS.isdisjoint(args) or args.get("status") in _ENDING_STATUSES


def _never(_: Mapping[str, Any], __: PreviewReader) -> bool:
    return False  # the affiliate gets no email about a rejection


def _revokes_grants(args: Mapping[str, Any], reader: PreviewReader) -> bool:
    return bool(_find_revoked_affiliates(args, reader))


def _find_revoked_affiliates(args: Mapping[str, Any], reader: PreviewReader) -> list[str]:
    remaining = args.get("grantedAffiliateIds")
    if not isinstance(remaining, list):
        return []
    coupon = reader.read("get_campaign_coupon", _pick(args, ("programId", "couponId")))
    remaining_ids = {str(id).lower() for id in remaining}
    return [id for id in coupon.get("grantedAffiliateIds", []) if id not in remaining_ids]


#: The condition under which a tool needs a confirmation, for tools that need one only sometimes.
_CONDITIONS: Mapping[str, Callable[[Mapping[str, Any], PreviewReader], bool]] = {
    "update_program": _changes_terms,
    "update_affiliate": _changes_rate_or_status,
    "reject_affiliate": _never,
    "update_campaign_coupon": _revokes_grants,
}


def _current_values(tool: str, ids: tuple[str, ...]) -> Callable[[Mapping[str, Any], PreviewReader], Mapping[str, Any]]:
    """Return a function that reads the current values of the fields to change."""

    def read(args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
        current = reader.read(tool, _pick(args, ids))
        return {"now": _pick(current, [name for name in args if name not in ids])}

    return read


def _read_stats(args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    rows = reader.read("get_program_stats", {}).get("items", [])
    return {"last30Days": next((row for row in rows if row.get("programId") == args["programId"].lower()), {})}


def _read_affiliates(args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    ids = [str(id) for id in args["affiliateIds"]]
    return {"number": len(ids), "affiliates": [_read_affiliate(id, reader) for id in ids[:_MAX_ROWS]]}


def _read_affiliate(affiliate_id: str, reader: PreviewReader) -> Mapping[str, Any]:
    try:
        affiliate = reader.read("get_affiliate", {"affiliateId": affiliate_id})
    except PreviewUnavailable as nothing:
        if nothing.answer.data.get("error") != "not_found":
            raise
        return {"affiliateId": affiliate_id, "status": "not found, skipped"}  # as the operation skips it
    return _pick(affiliate, ("fullName", "email", "status"))


def _preview_import(args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    preview_args = ("programId", "conversions", "file", "excludePaid")
    return {"preview": reader.read("preview_conversion_import", _pick(args, preview_args))}


def _count_rows(name: str) -> Callable[[Mapping[str, Any], PreviewReader], Mapping[str, Any]]:
    def count(args: Mapping[str, Any], _: PreviewReader) -> Mapping[str, Any]:
        return {"number": len(args[name])} if isinstance(args.get(name), list) else {}

    return count


def _read_code(args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    page = reader.read("list_affiliate_coupons", {"affiliateId": args["affiliateId"], "take": 100})
    code_id = args["codeId"].lower()
    code = next((row for row in page.get("items", []) if row.get("id") == code_id), None)
    if code is None and "items" in page and page.get("nextCursor") is None:  # all codes were read
        raise PreviewUnavailable(client.answer_from_refusal(not_found("code", code_id)))
    return {"code": code or {}}


def _list_revoked_affiliates(args: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    return {"losingTheirCodes": _find_revoked_affiliates(args, reader)}


#: What a preview shows in addition to the records of the ids.
_DETAILS: Mapping[str, Callable[[Mapping[str, Any], PreviewReader], Mapping[str, Any]]] = {
    "update_program": _current_values("get_program", ("programId",)),
    "archive_program": _read_stats,
    "set_sub_affiliate_config": _current_values("get_sub_affiliate_config", ("programId",)),
    "update_affiliate": _current_values("get_affiliate", ("affiliateId",)),
    "bulk_update_affiliates": _read_affiliates,
    "import_affiliates": _count_rows("affiliates"),
    "bulk_invite_affiliates": _count_rows("recipients"),
    "import_conversions": _preview_import,
    "set_home_currency": _current_values("get_home_currency", ()),
    "set_attribution_params": _current_values("get_attribution_params", ()),
    "update_campaign_coupon": _list_revoked_affiliates,
    "revoke_affiliate_coupon": _read_code,
}
