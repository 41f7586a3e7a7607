"""Files as the source of a switch.

part_storage   parts of files, stored as they are sent
file_mapping   what a mapping of columns derives from stored rows, and what it lacks
row_checks     why rows are left out, by the rules of judging
file_previews  the first rows of files as they will be, and what each collection needs
"""
