"""What was read from another system.

reading     how far each list and collection is read, and the figures that the source states
read_rows   the rows of the source as they were read
file_parts  parts of source files, and what a mapping of columns derives from their rows
"""
