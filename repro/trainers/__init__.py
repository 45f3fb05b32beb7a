"""Trainers: what turns a configuration and a seed into a finished run."""
