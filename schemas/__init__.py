"""Wire shapes in marshmallow. camelCase lives here and nowhere else."""
