"""The operator's file that maps networks to countries."""

import pytest

import settings
from adapters.clicks import countries
from settings import BadSetting


@pytest.fixture
def use_file(monkeypatch):
    """Return a function that sets the path of the file (empty: no file); undone afterwards."""

    def use(path):
        monkeypatch.setenv("NETWORK_COUNTRIES_FILE", str(path))
        _clear_caches()

    yield use
    monkeypatch.undo()
    _clear_caches()


def _clear_caches():
    settings.current.cache_clear()
    countries.load_map.cache_clear()
    countries.find_country.cache_clear()


def test_address_has_no_country_without_a_file(use_file):
    use_file("")

    assert countries.find_country("192.0.2.1") is None


def test_file_with_any_line_endings_is_read_once(use_file, tmp_path):
    path = tmp_path / "countries.csv"
    path.write_bytes(b"\xef\xbb\xbf192.0.2.0/24,DE\r\n\r\n2001:db8::/32,SE\r\n")
    use_file(path)

    first = countries.find_country("192.0.2.1")
    path.unlink()

    assert (first, countries.find_country("192.0.2.2"), countries.find_country("2001:db8::1")) == ("DE", "DE", "SE")
    assert countries.find_country("192.0.3.1") is None


@pytest.mark.parametrize("content", [None, b"\xff\xfe1,D"])
def test_unreadable_file_raises_bad_setting(use_file, tmp_path, content):
    path = tmp_path / "countries.csv"
    if content is not None:
        path.write_bytes(content)
    use_file(path)

    with pytest.raises(BadSetting, match=f"^NETWORK_COUNTRIES_FILE is '{path}', which cannot be read: "):
        countries.find_country("192.0.2.1")


def test_bad_line_stops_the_application_and_the_command(use_file, tmp_path, app, flask):
    from app import create_app

    path = tmp_path / "countries.csv"
    path.write_text("192.0.2.0/24,DE\nnonsense\n")
    use_file(path)

    with pytest.raises(SystemExit) as exit_info:
        create_app()
    code, output = flask("countries", "check")

    assert str(exit_info.value).startswith(f"finderfee: NETWORK_COUNTRIES_FILE is '{path}': line 2 is 'nonsense', ")
    assert (code, output) == (1, str(exit_info.value).replace("finderfee:", "Error:") + "\n")


def test_check_command_reports_file_contents_and_countries(use_file, tmp_path, app, flask):
    path = tmp_path / "countries.csv"
    path.write_text("192.0.2.0/24,DE\n198.51.100.0/24,FR\n2001:db8::/32,DE\n")
    use_file("")
    output_without_file = flask("countries", "check", "192.0.2.1")
    use_file(path)
    output = flask("countries", "check", "192.0.2.1", "nonsense")

    assert output_without_file == (
        0,
        "NETWORK_COUNTRIES_FILE is not set: clicks have no country.\n192.0.2.1  unknown\n",
    )
    assert output == (
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
