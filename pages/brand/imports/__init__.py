"""Imports at the dashboard: history from another service, and undoing an import.

column_form  the columns of the file of another service, matched to ours
row_words  the reasons and warnings of rows, in words for people
new_import  the preview of a file, row by row, and its import
history     the list of imports, each import, and undoing it
"""

from pages.brand.imports import history, new_import

BLUEPRINTS = (new_import.blueprint, history.blueprint)
