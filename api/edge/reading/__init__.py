"""Where lists, exports and numbers are read: at a replica that has what their caller wrote, else at the primary."""
