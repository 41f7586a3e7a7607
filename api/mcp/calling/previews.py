"""What a dangerous call would do, told before it is done: made of reads that there are, by the rules of these."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson
from marshmallow import ValidationError

from api.edge import errors
from api.mcp.asking import arguments, asker, results
from api.mcp.asking.arguments import SentArguments
from api.mcp.asking.asker import ToolAnswer, ToolAsker
from api.mcp.tools.binding import CONFIRM_TOKEN, BoundTool
from domain.refusals import not_found
from domain.text import one_line

_MOST_SHOWN = 10
_LONGEST_TEXT = 200
_PLAN = "plan_tier_required"
_PLAIN_LABEL = re.compile(r"[A-Za-z0-9]+")

#: What changes what somebody earns, or whether: the fields of a program that are confirmed.
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
_RATE = frozenset({"customCommissionType", "customCommissionValue", "partnerGroupId"})
_ENDS = ("Paused", "Rejected", "Banned")

# By which tool an id is read, and what is shown of it.
_NAMED: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
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


class NothingToShow(Exception):
    """What a call is about cannot be shown, so the call would be refused as well: the answer says why."""

    def __init__(self, answer: ToolAnswer):
        super().__init__(str(answer.data.get("error")))
        self.answer = answer


#: What an operation calls an id in its body that leads nowhere, where that is not `not_found`.
_NO_PROGRAM = ("program_not_found", "There is no such program in this organization.")
_NO_PROGRAM_TO_INVITE_TO = ("validation_failed", "There is no program with this id in the organization.")
_UNKNOWN_IDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("import_affiliates", "programId"): _NO_PROGRAM,
    ("import_conversions", "programId"): _NO_PROGRAM,
    ("invite_affiliate", "programId"): _NO_PROGRAM_TO_INVITE_TO,
    ("bulk_invite_affiliates", "programId"): _NO_PROGRAM_TO_INVITE_TO,
    ("create_conversion", "affiliateId"): (
        "affiliate_not_in_program",
        "The campaign has no affiliate with this id.",
    ),
}


def _as_operation(tool: str, argument: str, nothing: NothingToShow) -> NothingToShow:
    """Return the refusal of a read as the operation of the tool refuses."""
    known = _UNKNOWN_IDS.get((tool, argument))
    if known is None or nothing.answer.data.get("error") != "not_found":
        return nothing
    code, message = known
    return NothingToShow(ToolAnswer(True, {"error": code, "message": message, "field": argument}))


class PreviewReader:
    """Reads by the tools that only read, whether the client sees these or not."""

    def __init__(self, tools: Mapping[str, BoundTool], asker: ToolAsker) -> None:
        self._tools, self._asker = tools, asker

    def read(self, tool: str, sent: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a tool shows; nothing where the plan has it not. Raises NothingToShow for any other refusal."""
        bound = self._tools[tool]
        answer = self._asker.ask(bound, arguments.placed(bound, sent))
        if answer.is_refusal and answer.data.get("error") != _PLAN:
            raise NothingToShow(answer)
        return {} if answer.is_refusal else answer.data


def is_due(bound: BoundTool, sent: Mapping[str, Any], reader: PreviewReader) -> bool:
    """Say whether a call does what has to be confirmed. Its body may be malformed yet. Raises NothingToShow."""
    condition = _CONDITIONS.get(bound.tool.name)
    return condition is None or condition(sent, reader)


def named(ids: Iterable[str], sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    """Return what stands behind the ids of a call, by their arguments. Raises NothingToShow, Refused for no ids."""
    kinds = [kind for kind in ids if kind in _NAMED and isinstance(sent.get(kind), str)]
    # A coupon is looked for within its program, so it is what the operation misses where the program is another.
    return {kind: _named(kind, sent, reader) for kind in sorted(kinds, key=lambda kind: kind != "couponId")}


def of(bound: BoundTool, sent: Mapping[str, Any], about: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    """Return what a well-formed call would do; `about` is what stands behind the ids of its address.

    Raises NothingToShow, and Refused for ids that are none.
    """
    name = bound.tool.name
    for argument in bound.body:
        try:
            about = {**about, **named([argument], sent, reader)}
        except NothingToShow as nothing:
            raise _as_operation(name, argument, nothing) from nothing
    more = _MORE[name](sent, reader) if name in _MORE else {}
    called_with = {name: value for name, value in sent.items() if name != CONFIRM_TOKEN}
    shown = _displayed({"arguments": called_with, "about": about, **more})
    return results.without_nulls({"does": bound.tool.about, **shown})


def check_body(bound: BoundTool, placed: SentArguments) -> None:
    """Raise what the operation would say of a malformed body (NothingToShow), so that nobody is asked about one."""
    takes = bound.operation.takes
    if takes is None:
        return
    try:
        takes.load(orjson.loads(placed.body) if placed.body else {})
    except ValidationError as error:
        raise NothingToShow(asker.read(errors.validation_response(error))) from error


def text(preview: Mapping[str, Any]) -> str:
    """Return a preview as lines for a person: every text in it is quoted, so that none looks like a line of ours."""
    parts = {part: found for part, found in preview.items() if part != "does" and found}
    return "\n".join([str(preview["does"]), *_lines(parts, "")])


def _lines(found: Any, indent: str) -> list[str]:
    lines = []
    for name, value in found.items() if isinstance(found, Mapping) else enumerate(found, 1):
        label = name if isinstance(name, int) or _PLAIN_LABEL.fullmatch(name) else one_line.quote(name)
        if isinstance(value, Mapping | list):
            lines += [f"{indent}{label}:", *_lines(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{label}: {one_line.quote(value) if isinstance(value, str) else value}")
    return lines


def _named(kind: str, sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    tool, ids, shown = _NAMED[kind]
    if not all(isinstance(sent.get(id), str) for id in ids):
        return {}
    found = reader.read(tool, {id: sent[id] for id in ids})
    return _picked(found, shown)


def _picked(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: found[name] for name in names if name in found}


def _displayed(value: Any) -> Any:
    """Return a value as a preview shows it: each text on one line and cut, each list with its first rows."""
    if isinstance(value, str):
        return one_line.format_line(value, max_length=_LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {
            one_line.format_line(name, max_length=_LONGEST_TEXT): _displayed(inner) for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        rows = [_displayed(row) for row in value[:_MOST_SHOWN]]
        return rows if len(value) <= _MOST_SHOWN else [*rows, f"and {len(value) - _MOST_SHOWN} more"]
    return value


def _changes_terms(sent: Mapping[str, Any], _: PreviewReader) -> bool:
    return not _TERMS.isdisjoint(sent)


def _changes_standing(sent: Mapping[str, Any], _: PreviewReader) -> bool:
    return not _RATE.isdisjoint(sent) or sent.get("status") in _ENDS


def _writes_letter(_: Mapping[str, Any], __: PreviewReader) -> bool:
    return False  # nobody is told that they were turned down


def _loses_codes(sent: Mapping[str, Any], reader: PreviewReader) -> bool:
    return bool(_ungranted(sent, reader))


def _ungranted(sent: Mapping[str, Any], reader: PreviewReader) -> list[str]:
    kept = sent.get("grantedAffiliateIds")
    if not isinstance(kept, list):
        return []
    coupon = reader.read("get_campaign_coupon", _picked(sent, ("programId", "couponId")))
    still = {str(one).lower() for one in kept}
    return [one for one in coupon.get("grantedAffiliateIds", []) if one not in still]


#: When a tool that asks only sometimes asks.
_CONDITIONS: Mapping[str, Callable[[Mapping[str, Any], PreviewReader], bool]] = {
    "update_program": _changes_terms,
    "update_affiliate": _changes_standing,
    "reject_affiliate": _writes_letter,
    "update_campaign_coupon": _loses_codes,
}


def _before(tool: str, ids: tuple[str, ...]) -> Callable[[Mapping[str, Any], PreviewReader], Mapping[str, Any]]:
    """Return what shows how the fields that are sent stand now."""

    def now(sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
        found = reader.read(tool, _picked(sent, ids))
        return {"now": _picked(found, [name for name in sent if name not in ids])}

    return now


def _stats(sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    rows = reader.read("get_program_stats", {}).get("items", [])
    return {"last30Days": next((row for row in rows if row.get("programId") == sent["programId"].lower()), {})}


def _people(sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    ids = [str(one) for one in sent["affiliateIds"]]
    return {"number": len(ids), "affiliates": [_person(one, reader) for one in ids[:_MOST_SHOWN]]}


def _person(affiliate_id: str, reader: PreviewReader) -> Mapping[str, Any]:
    try:
        found = reader.read("get_affiliate", {"affiliateId": affiliate_id})
    except NothingToShow as nothing:
        if nothing.answer.data.get("error") != "not_found":
            raise
        return {"affiliateId": affiliate_id, "status": "not found, it is skipped"}  # as the operation skips it
    return _picked(found, ("fullName", "email", "status"))


def _import(sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    kept = ("programId", "conversions", "file", "excludePaid")
    return {"preview": reader.read("preview_conversion_import", _picked(sent, kept))}


def _rows(name: str) -> Callable[[Mapping[str, Any], PreviewReader], Mapping[str, Any]]:
    def count(sent: Mapping[str, Any], _: PreviewReader) -> Mapping[str, Any]:
        return {"number": len(sent[name])} if isinstance(sent.get(name), list) else {}

    return count


def _code(sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    page = reader.read("list_affiliate_coupons", {"affiliateId": sent["affiliateId"], "take": 100})
    code_id = sent["codeId"].lower()
    found = next((row for row in page.get("items", []) if row.get("id") == code_id), None)
    if found is None and "items" in page and page.get("nextCursor") is None:  # it read all that there are
        raise NothingToShow(asker.refused(not_found("code", code_id)))
    return {"code": found or {}}


def _lost(sent: Mapping[str, Any], reader: PreviewReader) -> Mapping[str, Any]:
    return {"losingTheirCodes": _ungranted(sent, reader)}


#: What is shown besides what the ids stand for.
_MORE: Mapping[str, Callable[[Mapping[str, Any], PreviewReader], Mapping[str, Any]]] = {
    "update_program": _before("get_program", ("programId",)),
    "archive_program": _stats,
    "set_sub_affiliate_config": _before("get_sub_affiliate_config", ("programId",)),
    "update_affiliate": _before("get_affiliate", ("affiliateId",)),
    "bulk_update_affiliates": _people,
    "import_affiliates": _rows("affiliates"),
    "bulk_invite_affiliates": _rows("recipients"),
    "import_conversions": _import,
    "set_home_currency": _before("get_home_currency", ()),
    "set_attribution_params": _before("get_attribution_params", ()),
    "update_campaign_coupon": _lost,
    "revoke_affiliate_coupon": _code,
}
