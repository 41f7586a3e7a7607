"""The operator's file of data centre networks."""

import random
import time

import pytest

import settings
from adapters.clicks import networks
from settings import BadSetting

_TEXT = """
# anonymizers
192.0.2.0/25   # the lower half
192.0.2.64/26
198.51.100.7
2001:db8:1::/48
203.0.113.0/24
"""


@pytest.mark.parametrize(
    ("ip", "expected"),
    [
        ("192.0.2.0", True),
        ("192.0.2.127", True),
        ("192.0.2.128", False),
        ("192.0.1.255", False),
        ("198.51.100.7", True),
        ("198.51.100.8", False),
        ("203.0.113.255", True),
        ("255.255.255.255", False),
        ("0.0.0.0", False),
        ("2001:db8:1:ffff::1", True),
        ("2001:db8:2::", False),
        ("::ffff:192.0.2.1", True),
        ("::192.0.2.1", False),
    ],
)
def test_address_matches_only_its_own_network(ip, expected):
    assert networks.parse_networks(_TEXT).contains(ip) is expected


@pytest.mark.parametrize("ip", ["", "unknown", "192.0.2.1.", "192.0.2.1:80", "1921", "192.0.2.1\0", "☃", "9" * 10_000])
def test_malformed_address_is_in_no_network(ip):
    assert networks.parse_networks("0.0.0.0/0\n::/0").contains(ip) is False


def test_widest_networks_contain_every_address():
    everything = networks.parse_networks("0.0.0.0/0\n::/0")

    assert all(everything.contains(ip) for ip in ("0.0.0.0", "255.255.255.255", "::", "ff" + "ff:" * 6 + "ff00::"))


def test_overlapping_and_adjacent_networks_are_merged():
    merged = networks.parse_networks("10.0.0.0/9\n10.128.0.0/9\n10.1.0.0/16")

    assert (len(merged.firsts[4]), merged.contains("10.255.255.255"), merged.contains("11.0.0.0")) == (1, True, False)


@pytest.mark.parametrize(
    "line", ["192.0.2.1/24", "192.0.2.0/33", "example.com", "10.0.0.0-10.0.0.9", "10.0.0.0/8,", "☃"]
)
def test_malformed_line_is_rejected_with_its_number(tmp_path, line):
    path = tmp_path / "networks.txt"

    with pytest.raises(BadSetting) as error_info:
        networks.parse_networks(f"# one\n10.0.0.0/8\n{line}\n", path=path)

    assert str(error_info.value).startswith(
        f"FRAUD_NETWORKS_FILE: line 3 of {path} is {line!r}, not a network such as "
    )


def test_fifty_thousand_networks_are_searched_quickly():
    generator = random.Random(1)
    lines = [
        f"{generator.randrange(1, 224)}.{generator.randrange(256)}.{generator.randrange(256)}.0/24"
        for _ in range(50_000)
    ]
    parsed = networks.parse_networks("\n".join(lines))
    addresses = [f"{generator.randrange(1, 224)}.{generator.randrange(256)}.1.1" for _ in range(10_000)]
    listed = {line.rpartition(".")[0] for line in lines}

    started = time.process_time()
    answers = [parsed.contains(ip) for ip in addresses]
    took_s = time.process_time() - started

    assert answers == [ip.rpartition(".")[0] in listed for ip in addresses]
    assert took_s < 5  # a linear search would take half a minute


@pytest.fixture
def use_file(monkeypatch):
    """Return a function that sets the path of the file (empty: no file); undone afterwards."""

    def use(path):
        monkeypatch.setenv("FRAUD_NETWORKS_FILE", str(path))
        _clear_caches()

    yield use
    monkeypatch.undo()
    _clear_caches()


def _clear_caches():
    settings.current.cache_clear()
    networks.load_networks.cache_clear()


def test_address_is_not_a_data_centre_without_a_file(use_file):
    use_file("")

    assert networks.is_data_centre("192.0.2.1") is False


def test_file_is_read_once(use_file, tmp_path):
    path = tmp_path / "networks.txt"
    path.write_text("192.0.2.0/24\n")
    use_file(path)

    first = networks.is_data_centre("192.0.2.1")
    path.unlink()

    assert (first, networks.is_data_centre("192.0.2.1"), networks.is_data_centre("192.0.3.1")) == (True, True, False)


@pytest.mark.parametrize("content", [None, b"\xff\xfe10.0.0.0/8"])
def test_unreadable_file_raises_bad_setting(use_file, tmp_path, content):
    path = tmp_path / "networks.txt"
    if content is not None:
        path.write_bytes(content)
    use_file(path)

    with pytest.raises(BadSetting, match=f"^FRAUD_NETWORKS_FILE is '{path}', which cannot be read: "):
        networks.is_data_centre("192.0.2.1")


def test_application_does_not_start_with_a_bad_line(use_file, tmp_path):
    from app import create_app

    path = tmp_path / "networks.txt"
    path.write_text("nonsense\n")
    use_file(path)

    with pytest.raises(SystemExit, match=r"^finderfee: FRAUD_NETWORKS_FILE: line 1 of "):
        create_app()
