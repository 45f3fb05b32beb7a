"""Results that are there: what their columns, fields and parts of paths say."""
