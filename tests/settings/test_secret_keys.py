"""The key that seals secrets: of the environment, or made once and kept; and former ones."""

import stat
import threading

import pytest

import settings
from settings import BadSetting, secret_keys

_LONG = "a secret that is long enough to be one"


def test_a_database_of_ones_own_needs_a_secret_key():
    with pytest.raises(BadSetting, match=r"^SECRET_KEY is not set.*secrets\.token_hex\(32\)"):
        settings.read({"DATABASE_URL": "postgresql://x"})


def test_a_short_secret_key_is_refused_without_being_shown():
    with pytest.raises(BadSetting, match=r"^SECRET_KEY is shorter than 32 characters") as refused:
        settings.read({"SECRET_KEY": "s3cret-but-short"})

    assert "s3cret" not in str(refused.value)


def test_former_secret_keys_are_a_list_and_the_one_in_force_comes_first():
    chosen = settings.read({"SECRET_KEY": _LONG, "SECRET_KEY_PREVIOUS": f" {_LONG}-a, {_LONG}-b ,"})

    assert secret_keys.believed(chosen.servers) == (_LONG, f"{_LONG}-a", f"{_LONG}-b")


@pytest.mark.parametrize(
    ("previous", "why"),
    [("short-one", "fewer than 32 characters"), (f"{_LONG}-a,short-one", "fewer"), (_LONG, "names SECRET_KEY itself")],
)
def test_a_former_secret_key_that_cannot_be_one_is_refused_without_being_shown(previous, why):
    with pytest.raises(BadSetting, match=f"^SECRET_KEY_PREVIOUS .*{why}") as refused:
        settings.read({"SECRET_KEY": _LONG, "SECRET_KEY_PREVIOUS": previous})

    assert "short-one" not in str(refused.value)
    assert _LONG not in str(refused.value)


def test_a_former_key_that_is_the_kept_one_is_listed_once(tmp_path):
    kept = secret_keys.in_force(settings.read({"DATA_DIR": str(tmp_path)}).servers)
    chosen = settings.read({"DATA_DIR": str(tmp_path), "SECRET_KEY_PREVIOUS": f"{kept},{_LONG}"})

    assert secret_keys.believed(chosen.servers) == (kept, _LONG)


def test_the_secret_key_of_the_environment_is_the_one(tmp_path):
    chosen = settings.read({"SECRET_KEY": _LONG, "DATA_DIR": str(tmp_path / "data")})

    assert secret_keys.in_force(chosen.servers) == _LONG
    assert not (tmp_path / "data").exists()


def test_first_callers_at_once_agree_on_one_secret_key_that_only_its_owner_reads(tmp_path):
    for number in range(20):
        chosen = settings.read({"DATA_DIR": str(tmp_path / str(number))})
        start = threading.Barrier(8)
        found: list[str] = []

        def first_call(chosen=chosen, start=start, found=found):
            start.wait()
            found.append(secret_keys.in_force(chosen.servers))

        threads = [threading.Thread(target=first_call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        kept = chosen.servers.data_dir / "secret_key"
        assert found == [kept.read_text()] * 8
        assert len(found[0]) == 64
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert [path.name for path in chosen.servers.data_dir.iterdir()] == ["secret_key"]


def test_a_damaged_secret_key_file_is_refused_instead_of_sealing_with_nothing(tmp_path):
    (tmp_path / "secret_key").write_text("")

    with pytest.raises(BadSetting, match="secret_key is damaged"):
        secret_keys.in_force(settings.read({"DATA_DIR": str(tmp_path)}).servers)
