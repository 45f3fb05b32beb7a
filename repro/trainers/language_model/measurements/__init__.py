"""Measurements on language models: from a trained model, or its history, to a number."""
