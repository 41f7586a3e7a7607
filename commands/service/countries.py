"""`flask countries`: check the operator's file of networks and countries."""

import click
from flask.cli import AppGroup

import settings
from adapters.clicks import countries
from commands import output

group = AppGroup("countries", help="The file of networks and their countries (NETWORK_COUNTRIES_FILE).")


@group.command("check")
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...")
@output.json_option
def check(addresses: tuple[str, ...], as_json: bool) -> None:
    """Read the file as the service does at start; show its size, and the countries of addresses.

    Exit status 1 if the file is invalid, with the line. Needs no database.
    """
    path = settings.current().fraud.countries_file
    try:
        file = countries.load_map()
    except settings.BadSetting as error:
        raise click.ClickException(str(error)) from error
    document = {
        "file": None if path is None else str(path),
        "countries": file.countries,
        "spansV4": file.spans[4],
        "spansV6": file.spans[6],
        "bytes": file.size_bytes,
        "addresses": {address: file.country(address) for address in addresses},
    }

    def print_text() -> None:
        if path is None:
            click.echo("NETWORK_COUNTRIES_FILE is not set: clicks have no country.")
        else:
            click.echo(
                f"{path}: {file.countries} countries, {file.spans[4]} ranges of IPv4 and {file.spans[6]} of IPv6,"
                f" {file.size_bytes / 1_048_576:.1f} MiB in memory"
            )
        for address in addresses:
            click.echo(f"{address}  {file.country(address) or 'unknown'}")

    output.show(document, as_json=as_json, print_text=print_text)
