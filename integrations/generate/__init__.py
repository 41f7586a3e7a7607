"""Generates parts of the Python and the JavaScript client from the OpenAPI description.

    interface   the operations that an API key may call, and their records
    python      typed dictionaries, and a class of methods per group
    javascript  the same as an ES module with declarations for TypeScript

`python -m integrations.generate` writes the files (`make sdk`); a rule test compares the committed ones.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from integrations.generate import javascript, python, reading

ROOT = Path(__file__).resolve().parents[1]


def files(document: Mapping[str, Any]) -> dict[Path, str]:
    """Return the text of every generated file by its path. Deterministic."""
    interface = reading.interface(document)
    return {
        **{ROOT / "python/finderfee/generated" / name: text for name, text in python.files(interface).items()},
        **{ROOT / "javascript/src/generated" / name: text for name, text in javascript.files(interface).items()},
    }


def stale(made: Mapping[Path, str]) -> list[Path]:
    """Return the files on disk that differ from the generated ones, superfluous files included."""
    folders = {path.parent for path in made}
    existing = {path for folder in folders for path in folder.glob("*") if path.is_file()}
    changed = {path for path, text in made.items() if path not in existing or path.read_text("utf-8") != text}
    return sorted(changed | (existing - made.keys()))
