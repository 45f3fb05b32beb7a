"""How often the gate of quality is wrong: false alarms on honest tables, faults that it finds."""
