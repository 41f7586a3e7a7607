"""Every result that an event of a gateway can have is in words on its page."""

import ast

from pages.brand.connections import event_reasons
from tests.support import trees

# The calls that name a result, with the position of its code.
_CALLS = {"IgnoredFact": 0, "UnclearFact": 0, "FactResult": 1, "TranslatedEvent": 1}
# Codes that are constants of a module, because several places compare them.
_CONSTANTS = {"BEFORE", "CANCELLED", "CLOSED", "HISTORY_ONLY", "NOT_ACTIVE", "NOT_A_SALE", "NO_REFERRAL", "NO_REFUND"}
_CONSTANTS |= {"UNKNOWN", "ZERO", "_CURRENCY"}


def test_every_result_of_an_event_is_in_words():
    codes = set()
    for path in trees.list_files("adapters/gateways", "pipelines/gateways"):
        for node in ast.walk(trees.parse_file(path)):
            codes |= _list_codes(node) if isinstance(node, ast.Call) else set()
            if isinstance(node, ast.Assign) and path.is_relative_to(trees.ROOT / "pipelines"):
                codes |= _list_constants(node)

    assert {"nobody_referred", "unknown_type", "not_confirmed", "known", "payment_unknown", "unreadable"} <= codes
    assert sorted(codes - event_reasons.CODES) == []


def test_unknown_result_shows_no_code():
    assert event_reasons.describe_reason("sent_by_mail") == "Sent by mail"
    assert event_reasons.describe_reason(None) is None


def _list_codes(call):
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if name not in _CALLS:
        return set()
    values = call.args[_CALLS[name] : _CALLS[name] + 1]
    values += [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    return {part.value for value in values for part in ast.walk(value) if isinstance(part, ast.Constant) and part.value}


def _list_constants(assignment):
    target, value = assignment.targets[0], assignment.value
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(value, ast.Tuple) and isinstance(target, ast.Tuple) else [value]
    return {
        part.value
        for name, part in zip(targets, values, strict=False)
        if isinstance(name, ast.Name) and name.id in _CONSTANTS and isinstance(part, ast.Constant)
    }
