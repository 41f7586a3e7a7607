"""Routes for no-code platforms such as Zapier, n8n and Make.

connection   the organization of a key
hooks        subscriptions of workflows to events
samples      example events
search       look-ups by a value that the workflow has
"""

from api.automation import connection, hooks, samples, search

BLUEPRINTS = (
    connection.blueprint,
    hooks.blueprint,
    samples.blueprint,
    search.blueprint,
)
