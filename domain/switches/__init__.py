"""Switching from another affiliate system: what its rows mean here.

sources       the systems, what is read of each, and in which order
states        the states of a switch and what leads from one to the next
options       what a brand may choose
customer_ids  which field is the billing system's id
records       a row of a source, understood: the same classes for every source
decisions     what Run writes for a row
reasons       verdicts, reasons for leaving a row out, and warnings
"""
