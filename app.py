"""The application: settings, database, operator commands, and the service itself. Nothing happens at import."""

import click

import settings
from adapters import clock, logs, servers
from adapters.tracing import export
from api.application import Application
from commands.listed import Commands
from models import db


def create_app() -> Application:
    """Build the application from this process's settings. Opens no connection yet."""
    try:
        chosen = settings.current()
        logs.configure(chosen.monitoring)
        export.configure(chosen.monitoring)
        db.connect_to(
            servers.urls().database_url,
            replica_url=chosen.servers.database_read_url,
            is_pooled=chosen.servers.is_pooled,
        )
        clock.follow(db.database_clock)
        app = Application("finderfee", static_folder=None)
        app.cli = Commands()
        if _answers_requests():
            import pages  # with all that they need, which no command has to wait for
            from api import web

            web.mount(app, beside=pages.BLUEPRINTS)
        else:
            db.database_clock.read_first = db.read_clock  # a command may want the time before anything else
    except settings.BadSetting as error:
        raise SystemExit(f"finderfee: {error}") from error
    return app


def _answers_requests() -> bool:
    """Say whether requests may come; not where `flask` only looks for an operator's command."""
    context = click.get_current_context(silent=True)
    return context is None or context.parent is not None
