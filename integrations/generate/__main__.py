"""`make sdk`: write the generated files of both clients, and delete those no longer generated."""

import os

from integrations import generate


def main() -> None:
    """Write changed files, and print their paths."""
    # The servers are not contacted: only the routes are read.
    os.environ.update(
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/none", REDIS_URL="redis://127.0.0.1:1/0", SECRET_KEY="none" * 8
    )
    from api.service import description
    from app import create_app

    with create_app().app_context():
        files = generate.build_files(description.document())
    for path in generate.find_stale(files):
        if path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], "utf-8")
        else:
            path.unlink()
        print(path.relative_to(generate.ROOT.parent))


if __name__ == "__main__":
    main()
