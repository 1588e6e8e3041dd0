"""When the room is full, and when rows shall be smaller: what it costs a model to be given less than it computed.

- `policies`: one text under every way of giving up rows, and where it first writes another token
- `recorded`: a trained model without a row, through a window, and with keys and values in codes, as it was measured
- `sink`: one head with a planted sink, under a window and with the first row kept
- `bits`: rows before and after their codes, how far off they may be and are, and what they take

All but the recorded figures are those of the small models that ship. They have neither attention sinks nor outlier
channels, and say nothing about how large models bear the same.
"""
