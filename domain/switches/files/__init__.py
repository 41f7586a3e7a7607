"""Files as the source of a switch: exports of any other affiliate system, read by the columns that a brand names.

file_fields         the fields of each collection, which of them are needed, and which columns a mapping lacks
field_texts         fields, files and faults of rows in words for people
column_suggestions  which column probably holds which field
mapped_cells        the cells of a row by field: texts, times, amounts, who the affiliate is, and the row's key
"""
