"""Any program as a trainer: a command line per replicate, and the numbers that it leaves."""
