"""Word similarity: embeddings of words against what people say of pairs of words."""
