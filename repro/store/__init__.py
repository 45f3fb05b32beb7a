"""Runs by key: records, histories, weights and measurements in folders of plain files."""
