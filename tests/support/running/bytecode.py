"""Bytecode of the service and of its tests, made once before a run: its processes would each make all of it, at once.

Rewriting the assertions of the tests is most of that. How that is done and where it is kept is pytest's own, whose
version is exact; what is missing here, or kept wrongly, its processes make as usual.
"""

import compileall
import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

_ROOT = Path(__file__).parents[3]
# One process makes these while another would start.
_FEW = 20


def compile_sources(config: pytest.Config) -> None:
    """Make what is not there yet, with a process for each core."""
    if sys.dont_write_bytecode:
        return
    sources = [path for package in sorted(_ROOT.glob("*/__init__.py")) for path in sorted(package.parent.rglob("*.py"))]
    stale = [source for source in sources if not _is_compiled(source)]
    if len(stale) < _FEW:
        return
    cores = os.cpu_count() or 1
    fork = multiprocessing.get_context("fork")  # a configuration cannot be sent, but inherited
    processes = [fork.Process(target=_compile_all, args=(config, stale[number::cores])) for number in range(cores)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def _is_compiled(source: Path) -> bool:
    try:
        return _cache_path(source).stat().st_mtime >= source.stat().st_mtime
    except FileNotFoundError:
        return False


def _cache_path(source: Path) -> Path:
    tail = rewrite.PYC_TAIL if _is_rewritten(source) else f".{sys.implementation.cache_tag}.pyc"
    return rewrite.get_cache_dir(source) / f"{source.stem}{tail}"


def _is_rewritten(source: Path) -> bool:
    return source.name == "conftest.py" or source.name.startswith("test_")


def _compile_all(config: pytest.Config, sources: list[Path]) -> None:
    for source in sources:
        if _is_rewritten(source):
            _rewrite(config, source)
        else:
            compileall.compile_file(source, quiet=2)


def _rewrite(config: pytest.Config, source: Path) -> None:
    cached = _cache_path(source)
    if rewrite.try_makedirs(cached.parent):
        source_hash, code = rewrite._rewrite_test(source, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source_hash, cached)
