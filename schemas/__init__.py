"""Wire shapes in marshmallow. The API's camelCase is made here; events are written as they are sent, in domain."""
