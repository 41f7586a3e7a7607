"""Switches from other affiliate systems: connect, read, judge, run, undo, forget.

steps          the jobs of a switch, staged by whatever leads to them
contexts       what the meaning of a switch's rows depends on
connecting     a new switch: one request proves the credentials
changes        what a brand may change: mapping, options, cut-over, credentials; begin, resume and cancel reading
files          exports of any system, sent in parts
walking        which list is read next, from where, and the step from the last one to judging
reading        one request to the source, and the storage of its page
pausing        the pause after an error that only a person can resolve
judging        what becomes of each row, in slices, and the preview
understanding  raw rows become items
judgement      the verdicts on items, and the preview
running        the confirmed run, in slices
writing        the rows of a slice, by collection
parameters     parameter names of links, added at the end of a run
undoing        the undo, in slices, and what it would remove
removing       the undo of a slice, by collection
digests        digests of brought records, equal for equal runs
forgetting     the erasure of keys and staging
"""
