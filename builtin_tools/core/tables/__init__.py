"""From a path to a typed relation, and from a query to a result file."""
