"""The keys that encrypt secrets: SECRET_KEY, a key created in the data folder, and former ones."""

import stat
import threading

import pytest

import settings
from settings import BadSetting, secret_keys

_LONG = "a secret that is long enough to be one"


def test_database_url_without_secret_key_raises_error():
    with pytest.raises(BadSetting, match=r"^SECRET_KEY is not set.*secrets\.token_hex\(32\)"):
        settings.read({"DATABASE_URL": "postgresql://x"})


def test_short_secret_key_raises_error_without_the_key():
    with pytest.raises(BadSetting, match=r"^SECRET_KEY is shorter than 32 characters") as error:
        settings.read({"SECRET_KEY": "s3cret-but-short"})

    assert "s3cret" not in str(error.value)


def test_accepted_keys_are_the_current_key_then_former_keys():
    chosen = settings.read({"SECRET_KEY": _LONG, "SECRET_KEY_PREVIOUS": f" {_LONG}-a, {_LONG}-b ,"})

    assert secret_keys.accepted_keys(chosen.servers) == (_LONG, f"{_LONG}-a", f"{_LONG}-b")


@pytest.mark.parametrize(
    ("previous", "why"),
    [
        ("short-one", "fewer than 32 characters"),
        (f"{_LONG}-a,short-one", "fewer"),
        (_LONG, "contains SECRET_KEY itself"),
    ],
)
def test_invalid_former_key_raises_error_without_the_key(previous, why):
    with pytest.raises(BadSetting, match=f"^SECRET_KEY_PREVIOUS .*{why}") as error:
        settings.read({"SECRET_KEY": _LONG, "SECRET_KEY_PREVIOUS": previous})

    assert "short-one" not in str(error.value)
    assert _LONG not in str(error.value)


def test_former_key_equal_to_created_key_is_accepted_once(tmp_path):
    key = secret_keys.current_key(settings.read({"DATA_DIR": str(tmp_path)}).servers)
    chosen = settings.read({"DATA_DIR": str(tmp_path), "SECRET_KEY_PREVIOUS": f"{key},{_LONG}"})

    assert secret_keys.accepted_keys(chosen.servers) == (key, _LONG)


def test_secret_key_of_environment_is_current(tmp_path):
    chosen = settings.read({"SECRET_KEY": _LONG, "DATA_DIR": str(tmp_path / "data")})

    assert secret_keys.current_key(chosen.servers) == _LONG
    assert not (tmp_path / "data").exists()


def test_concurrent_first_calls_create_one_key_readable_by_owner(tmp_path):
    for number in range(20):
        chosen = settings.read({"DATA_DIR": str(tmp_path / str(number))})
        start = threading.Barrier(8)
        keys: list[str] = []

        def first_call(chosen=chosen, start=start, keys=keys):
            start.wait()
            keys.append(secret_keys.current_key(chosen.servers))

        threads = [threading.Thread(target=first_call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        file = chosen.servers.data_dir / "secret_key"
        assert keys == [file.read_text()] * 8
        assert len(keys[0]) == 64
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [path.name for path in chosen.servers.data_dir.iterdir()] == ["secret_key"]


def test_damaged_secret_key_file_raises_error(tmp_path):
    (tmp_path / "secret_key").write_text("")

    with pytest.raises(BadSetting, match="secret_key is damaged"):
        secret_keys.current_key(settings.read({"DATA_DIR": str(tmp_path)}).servers)
