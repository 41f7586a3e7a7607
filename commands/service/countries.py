"""`flask countries`: what the operator's file of networks and countries holds."""

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
    """Read the file as the service does at start, and say what it holds and where addresses lie.

    Exit status 1 where the file cannot be used, with the line. Asks no database.
    """
    path = settings.current().fraud.countries_file
    try:
        held = countries.known()
    except settings.BadSetting as error:
        raise click.ClickException(str(error)) from error
    told = {
        "file": None if path is None else str(path),
        "countries": held.countries,
        "spansV4": held.spans[4],
        "spansV6": held.spans[6],
        "bytes": held.size_bytes,
        "addresses": {address: held.country(address) for address in addresses},
    }

    def person() -> None:
        if path is None:
            click.echo("NETWORK_COUNTRIES_FILE is not set: clicks have no country.")
        else:
            click.echo(
                f"{path}: {held.countries} countries, {held.spans[4]} spans of IPv4 and {held.spans[6]} of IPv6,"
                f" {held.size_bytes / 1_048_576:.1f} MiB in memory"
            )
        for address in addresses:
            click.echo(f"{address}  {held.country(address) or 'not known'}")

    output.show(told, as_json=as_json, person=person)
