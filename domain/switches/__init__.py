"""Switching from another affiliate system: what its rows mean here.

sources        the systems, what is read of each, and in which order
states         the states of a switch and what leads from one to the next
options        what a brand may choose
pace           when a source is requested again
lists          how far a list is walked, although it moves
records        a row of a source, understood: the same classes for every source
files          exports of any system as files: fields, suggestions, cells
rules          how rows become records here
decisions      what Run writes for a row
decision_json  reads decisions as they are stored
reasons        verdicts, reasons for leaving a row out, and warnings
reason_texts   words for the reasons
figures        the figures that a source states of itself
"""
