"""Answering in a dialog: utterances so far -> the next utterance, word by word.

A sequence-to-sequence model of GRUs without attention, with the output layers of the language
models. More letters: U utterances, N predicted words. Reading order: ``corpus``, ``model``,
``training``, ``bleu``.
"""
