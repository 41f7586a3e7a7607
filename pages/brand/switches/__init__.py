"""Switches from another affiliate system, at the dashboard.

switch_words  reasons, warnings, figures and options in words
listing       the list of switches, and the systems
new_switch    the key of a system
progress      how fast a switch reads, and how long it probably takes
file_forms    the files of a switch: parts, columns, words
settings_form  mapping and options: read, filled in, and what of them changed
file_rows     the first rows of a file in words
switch        one switch, by its state
rows          its rows, as a list and as a file
undo          what an undo would remove, and the undo
"""

from pages.brand.switches import listing, new_switch, rows, switch, undo

BLUEPRINTS = (listing.blueprint, new_switch.blueprint, rows.blueprint, undo.blueprint, switch.blueprint)
