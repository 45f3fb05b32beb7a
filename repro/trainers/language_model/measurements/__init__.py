"""What is measured on a trained language model, one file a kind."""
