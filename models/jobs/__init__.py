"""The job table: `rows` dispatches and finishes jobs, `admin_queries` is for operators, `processes` has the workers."""
