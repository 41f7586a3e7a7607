"""Imports at the dashboard: the past from another service, and taking it back.

upload    the file of a new import, on its way from the look at it to the import
new       the look at a file, row by row, and the import of it
history   what was imported, each import, and its undoing
"""

from pages.brand.imports import history, new

BLUEPRINTS = (new.blueprint, history.blueprint)
