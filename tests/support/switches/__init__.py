"""Switches from other affiliate systems.

walking         walks a source's lists at its played server, without jobs
small_source    a source of few rows, served in the test
record_source   a source whose raw rows are the fields of records
source_records  rows of a source, understood
reading_runs    connects and reads a switch, without judging it
scene           a brand with a switch whose rows wait for judging
played_switch   a switch from a played source: connect, read and judge, run
file_switch     a switch whose source is files
file_rows       rows of source files
judged_rows     a switch with rows as judging leaves them
brought_rows    what a switch has brought
undoing         the undo of a switch
switch_calls    calls of the routes of switches
switch_states   switches in any state
"""
