"""Switches from other affiliate systems.

records   a switch as JSON, and the look-up of one by the id of a path
sources   the systems, with the credentials that each takes
switches  switches: list, connect, change
reading   begin, resume and cancel reading
files     the parts of exported files
preview   what Run would write, and the rows
run       the confirmed run
undo      what an undo would remove, and the undo
"""

from api.switches import files, preview, reading, run, sources, switches, undo

BLUEPRINTS = (
    sources.blueprint,
    switches.blueprint,
    reading.blueprint,
    files.blueprint,
    preview.blueprint,
    run.blueprint,
    undo.blueprint,
)
