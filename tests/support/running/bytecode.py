"""Compiles the service and its tests to bytecode before a run: otherwise each process of the run would compile all.

Most of the work is rewriting the assertions of the tests. That uses internals of pytest, whose version is pinned; the
processes compile as usual whatever is missing or stale.
"""

import compileall
import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

_ROOT = Path(__file__).parents[3]
# For so few files it is not worth starting processes.
_FEW = 20


def compile_sources(config: pytest.Config) -> None:
    """Compile the files whose bytecode is missing or stale, with a process for each core."""
    if sys.dont_write_bytecode:
        return
    sources = [path for package in sorted(_ROOT.glob("*/__init__.py")) for path in sorted(package.parent.rglob("*.py"))]
    stale = [source for source in sources if not _is_compiled(source)]
    if len(stale) < _FEW:
        return
    cores = os.cpu_count() or 1
    fork = multiprocessing.get_context("fork")  # the configuration cannot be pickled, only inherited
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
