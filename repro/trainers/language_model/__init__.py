"""Recurrent language models, small enough to be read as a textbook and usable alone.

Letters in names and comments: T time, B batch, N rows (T x B flattened), E embedding,
H hidden, D context, K components, V vocabulary; 1 is a dimension of one entry. Losses are in nats.

Letters that are met less often: L steps of a whole text that is cut into B streams; I and O what
goes into an affine map and comes out of it; G the gates of a layer, 4 H; P the pieces of PLIF.
R and n depend on the module: in ``fused_loss`` n is the rows of one chunk and R = n K its rows of
logits; in ``model`` R is the replicates and n those that still run at a step.

Reading order: ``corpus``; ``randomness``, ``regularisation``, ``precision``; ``fused_loss``,
``output``; ``model``; ``optimiser``, ``checkpoint``, ``training``; ``evaluation``;
``measurements``.
"""
