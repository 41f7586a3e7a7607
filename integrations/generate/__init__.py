"""Generates parts of the Python and the JavaScript client from the OpenAPI description.

    openapi     the operations that an API key may call, and their records
    python      typed dictionaries, and a class of methods per group
    javascript  the same as an ES module with declarations for TypeScript

`python -m integrations.generate` writes the files (`make sdk`); a rule test compares the committed ones.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from integrations.generate import javascript, openapi, python

ROOT = Path(__file__).resolve().parents[1]


def build_files(document: Mapping[str, Any]) -> dict[Path, str]:
    """Return the text of every generated file by its path. Deterministic."""
    interface = openapi.read_interface(document)
    return {
        **{ROOT / "python/finderfee/generated" / name: text for name, text in python.build_files(interface).items()},
        **{ROOT / "javascript/src/generated" / name: text for name, text in javascript.build_files(interface).items()},
    }


def find_stale(files: Mapping[Path, str]) -> list[Path]:
    """Return the files on disk that differ from the generated ones, superfluous files included."""
    folders = {path.parent for path in files}
    existing = {path for folder in folders for path in folder.glob("*") if path.is_file()}
    changed = {path for path, text in files.items() if path not in existing or path.read_text("utf-8") != text}
    return sorted(changed | (existing - files.keys()))
