"""Results that people already have, one file per source: what each run recorded, by name."""
