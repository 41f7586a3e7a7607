"""Raw rows become items that find each other; the first half of judging.

context        what judging depends on besides the rows
slices         a slice of raw rows becomes items
item_building  items as columns, and their keys
references     whom a row means: its affiliate and customer among the items
"""
