"""The job table: `rows` hands out and finishes, `desk` is what an operator sees, `silence` who died."""
