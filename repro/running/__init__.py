"""Running: planned runs into the store, in processes of their own; it judges nothing."""
