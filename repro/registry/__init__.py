"""What was declared and looked at, and which seeds are due."""
