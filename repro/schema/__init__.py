"""The floor of all documents: base types, YAML with positions, messages, numbers as text."""
