"""Pages of a trained model, drawn from traces and records that lie in the repository: no weights travel.

`talks` and `answers` are the stepper on a text and on a turn of a chat; `refers` lets several words ask the same rows;
`repeats` follows a text that goes in circles. `python -m tools.trained` makes what they are drawn from.
"""
