"""Flask's own command line, whose --version begins with Finderfee's version: deploy/flask runs it."""

import platform
from importlib import metadata

import click
from flask.cli import FlaskGroup

from settings.version import VERSION


def _print_version(context: click.Context, _parameter: click.Parameter, is_requested: bool) -> None:
    if not is_requested or context.resilient_parsing:
        return
    parts = {"Finderfee": VERSION, "Python": platform.python_version(), "Flask": metadata.version("flask")}
    click.echo("\n".join(f"{name} {version}" for name, version in parts.items()), color=context.color)
    context.exit()


_VERSION_OPTION = click.Option(
    ["--version"],
    help="Show the version of Finderfee.",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
)

if __name__ == "__main__":
    FlaskGroup(
        name="flask",
        help="Operate Finderfee: every command of the service, and Flask's own.",
        add_version_option=False,
        params=[_VERSION_OPTION],
    ).main(prog_name="flask")
