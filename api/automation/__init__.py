"""What no-code platforms call: Zapier, n8n, Make and their like.

connection   whom a key connects to
hooks        a workflow is told of an event, until it is switched off
samples      what the event looks like
search       one thing is found by what the workflow knows of it
"""

from api.automation import connection, hooks, samples, search

BLUEPRINTS = (
    connection.blueprint,
    hooks.blueprint,
    samples.blueprint,
    search.blueprint,
)
