"""Who is told about spans."""
