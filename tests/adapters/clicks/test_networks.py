"""Networks of data centres, from the operator's file."""

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
def test_an_address_is_found_in_its_network_alone(ip, expected):
    assert networks.parse_networks(_TEXT).contains(ip) is expected


@pytest.mark.parametrize("ip", ["", "unknown", "192.0.2.1.", "192.0.2.1:80", "1921", "192.0.2.1\0", "☃", "9" * 10_000])
def test_what_is_no_address_is_in_no_network(ip):
    assert networks.parse_networks("0.0.0.0/0\n::/0").contains(ip) is False


def test_the_widest_networks_hold_every_address():
    everything = networks.parse_networks("0.0.0.0/0\n::/0")

    assert all(everything.contains(ip) for ip in ("0.0.0.0", "255.255.255.255", "::", "ff" + "ff:" * 6 + "ff00::"))


def test_networks_that_overlap_or_touch_are_one():
    found = networks.parse_networks("10.0.0.0/9\n10.128.0.0/9\n10.1.0.0/16")

    assert (len(found.firsts[4]), found.contains("10.255.255.255"), found.contains("11.0.0.0")) == (1, True, False)


@pytest.mark.parametrize(
    "line", ["192.0.2.1/24", "192.0.2.0/33", "example.com", "10.0.0.0-10.0.0.9", "10.0.0.0/8,", "☃"]
)
def test_a_line_that_is_no_network_is_refused_with_its_number(tmp_path, line):
    path = tmp_path / "networks.txt"

    with pytest.raises(BadSetting) as refused:
        networks.parse_networks(f"# one\n10.0.0.0/8\n{line}\n", path=path)

    assert str(refused.value).startswith(f"FRAUD_NETWORKS_FILE: line 3 of {path} is {line!r}, not a network such as ")


def test_fifty_thousand_networks_are_looked_through_fast():
    chosen = random.Random(1)
    lines = [f"{chosen.randrange(1, 224)}.{chosen.randrange(256)}.{chosen.randrange(256)}.0/24" for _ in range(50_000)]
    found = networks.parse_networks("\n".join(lines))
    addresses = [f"{chosen.randrange(1, 224)}.{chosen.randrange(256)}.1.1" for _ in range(10_000)]
    listed = {line.rpartition(".")[0] for line in lines}

    started = time.process_time()
    answers = [found.contains(ip) for ip in addresses]
    took_s = time.process_time() - started

    assert answers == [ip.rpartition(".")[0] in listed for ip in addresses]
    assert took_s < 5  # one by one it would be half a minute


@pytest.fixture
def given(monkeypatch):
    """Use a file, or none, and go back to none afterwards."""

    def use(path):
        monkeypatch.setenv("FRAUD_NETWORKS_FILE", str(path))
        _forget()

    yield use
    monkeypatch.undo()
    _forget()


def _forget():
    settings.current.cache_clear()
    networks.load_networks.cache_clear()


def test_without_a_file_no_address_is_a_data_centres(given):
    given("")

    assert networks.is_data_centre("192.0.2.1") is False


def test_the_file_is_read_once(given, tmp_path):
    path = tmp_path / "networks.txt"
    path.write_text("192.0.2.0/24\n")
    given(path)

    first = networks.is_data_centre("192.0.2.1")
    path.unlink()

    assert (first, networks.is_data_centre("192.0.2.1"), networks.is_data_centre("192.0.3.1")) == (True, True, False)


@pytest.mark.parametrize("content", [None, b"\xff\xfe10.0.0.0/8"])
def test_a_file_that_cannot_be_read_is_refused_by_name(given, tmp_path, content):
    path = tmp_path / "networks.txt"
    if content is not None:
        path.write_bytes(content)
    given(path)

    with pytest.raises(BadSetting, match=f"^FRAUD_NETWORKS_FILE is '{path}', which cannot be read: "):
        networks.is_data_centre("192.0.2.1")


def test_the_application_does_not_start_with_a_bad_line(given, tmp_path):
    from app import create_app

    path = tmp_path / "networks.txt"
    path.write_text("nonsense\n")
    given(path)

    with pytest.raises(SystemExit, match=r"^finderfee: FRAUD_NETWORKS_FILE: line 1 of "):
        create_app()
