"""The packages for no-code platforms carry the same code, the service's own samples, and no registry's address."""

import json
import re
from pathlib import Path

from domain.webhooks import events, samples

_INTEGRATIONS = Path(__file__).resolve().parents[2] / "integrations"
_ALIKE = ("common/**/*.js", "test/support/service.js", ".npmrc")


def _alike(package: str) -> dict[str, str]:
    root = _INTEGRATIONS / package
    return {str(path.relative_to(root)): path.read_text() for pattern in _ALIKE for path in root.glob(pattern)}


def test_what_both_packages_do_alike_is_the_same_code_since_each_is_published_alone():
    assert len(_alike("zapier")) > 10
    assert _alike("n8n") == _alike("zapier")


def test_the_samples_of_the_triggers_are_those_of_the_service():
    kept = json.loads((_INTEGRATIONS / "zapier" / "samples.json").read_text())

    assert {name: (sample["type"], sample["data"]) for name, sample in kept.items()} == {
        name: (name, samples.SAMPLES[name]) for name in events.TESTABLE
    }


def test_the_triggers_are_the_events_that_can_be_tried():
    declared = (_INTEGRATIONS / "zapier" / "common" / "events.js").read_text()

    assert len(events.TESTABLE) == 9
    assert sorted(re.findall(r"type: '([\w.]+)'", declared)) == sorted(events.TESTABLE)


def test_there_are_nine_actions_and_four_searches():
    assert _declared("actions/*.js") == [
        "add_commission",
        "approve_or_reject_affiliate",
        "create_affiliate",
        "create_coupon_code",
        "invite_affiliate",
        "record_lead",
        "record_sale",
        "refund_sale",
        "update_affiliate",
    ]
    assert _declared("searches.js") == ["find_affiliate", "find_campaign", "find_conversion", "find_payout"]


def _declared(files: str) -> list[str]:
    texts = [path.read_text() for path in (_INTEGRATIONS / "zapier" / "common").glob(files)]
    return sorted(key for text in texts for key in re.findall(r"key: '(\w+)',\n +label: .*\n +noun: ", text))


def test_no_lock_names_a_registry():
    locks = [*_INTEGRATIONS.glob("*/package-lock.json")]

    assert len(locks) >= 2
    assert [lock for lock in locks if '"resolved"' in lock.read_text()] == []
