"""Document -> files: formats what it is given and computes no statistic."""
