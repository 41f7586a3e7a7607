"""The operator's file of networks and countries."""

import pytest

import settings
from adapters.clicks import countries
from settings import BadSetting


@pytest.fixture
def given(monkeypatch):
    """Use a file, or none, and go back to none afterwards."""

    def use(path):
        monkeypatch.setenv("NETWORK_COUNTRIES_FILE", str(path))
        _forget()

    yield use
    monkeypatch.undo()
    _forget()


def _forget():
    settings.current.cache_clear()
    countries.load_map.cache_clear()
    countries.find_country.cache_clear()


def test_without_a_file_no_address_has_a_country(given):
    given("")

    assert countries.find_country("192.0.2.1") is None


def test_the_file_is_read_once_whatever_system_wrote_it(given, tmp_path):
    path = tmp_path / "countries.csv"
    path.write_bytes(b"\xef\xbb\xbf192.0.2.0/24,DE\r\n\r\n2001:db8::/32,SE\r\n")
    given(path)

    first = countries.find_country("192.0.2.1")
    path.unlink()

    assert (first, countries.find_country("192.0.2.2"), countries.find_country("2001:db8::1")) == ("DE", "DE", "SE")
    assert countries.find_country("192.0.3.1") is None


@pytest.mark.parametrize("content", [None, b"\xff\xfe1,D"])
def test_a_file_that_cannot_be_read_is_refused_by_name(given, tmp_path, content):
    path = tmp_path / "countries.csv"
    if content is not None:
        path.write_bytes(content)
    given(path)

    with pytest.raises(BadSetting, match=f"^NETWORK_COUNTRIES_FILE is '{path}', which cannot be read: "):
        countries.find_country("192.0.2.1")


def test_the_application_does_not_start_with_a_bad_line_and_the_command_says_which(given, tmp_path, app, flask):
    from app import create_app

    path = tmp_path / "countries.csv"
    path.write_text("192.0.2.0/24,DE\nnonsense\n")
    given(path)

    with pytest.raises(SystemExit) as stopped:
        create_app()
    code, said = flask("countries", "check")

    assert str(stopped.value).startswith(f"finderfee: NETWORK_COUNTRIES_FILE is '{path}': line 2 is 'nonsense', ")
    assert (code, said) == (1, str(stopped.value).replace("finderfee:", "Error:") + "\n")


def test_the_command_says_what_the_file_holds_and_where_addresses_lie(given, tmp_path, app, flask):
    path = tmp_path / "countries.csv"
    path.write_text("192.0.2.0/24,DE\n198.51.100.0/24,FR\n2001:db8::/32,DE\n")
    given("")
    without = flask("countries", "check", "192.0.2.1")
    given(path)
    told = flask("countries", "check", "192.0.2.1", "nonsense")

    assert without == (0, "NETWORK_COUNTRIES_FILE is not set: clicks have no country.\n192.0.2.1  unknown\n")
    assert told == (
        0,
        f"{path}: 2 countries, 4 ranges of IPv4 and 2 of IPv6, 0.0 MiB in memory\n192.0.2.1  DE\nnonsense  unknown\n",
    )
    assert flask.json("countries", "check", "2001:db8::7") == {
        "file": str(path),
        "countries": 2,
        "spansV4": 4,
        "spansV6": 2,
        "bytes": 54,
        "addresses": {"2001:db8::7": "DE"},
    }
