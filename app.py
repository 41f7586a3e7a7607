"""The application: settings, database, operator commands, and the service itself. Importing it does nothing."""

import os

import click

import settings
from adapters import clock, logs, servers
from adapters.tracing import export
from api.application import Application
from commands.registry import Commands
from models import db


def create_app() -> Application:
    """Build the application from this process's settings. Opens no connection yet."""
    try:
        config = settings.current()
        logs.configure(config.monitoring)
        logs.report_old_settings(settings.old_name_warnings(os.environ))
        export.configure(config.monitoring)
        db.connect_to(
            servers.urls().database_url,
            replica_url=config.servers.database_read_url,
            is_pooled=config.servers.is_pooled,
        )
        clock.use_database_clock(db.database_clock)
        app = Application("finderfee", static_folder=None)
        app.cli = Commands()
        if _serves_requests():
            import pages  # here, because commands need not wait for what it imports
            from api import web

            web.mount(app, extra_blueprints=pages.BLUEPRINTS)
        else:
            db.database_clock.read_first = db.read_clock  # a command may need the time before it runs a statement
    except settings.BadSetting as error:
        raise SystemExit(f"finderfee: {error}") from error
    return app


def _serves_requests() -> bool:
    """Return whether this process serves requests, and does not only run an operator's command."""
    context = click.get_current_context(silent=True)
    return context is None or context.parent is not None
