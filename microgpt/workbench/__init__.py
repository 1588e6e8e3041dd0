"""The model's own code in the reader's hands: its text, what the reader has made of it, and what tells the two apart.

`original` is the text, an ordinary Python program. `Yours` compiles what has become of it; `YourRecording` runs a text
by it, for the machine to draw; a `Trial` holds each report of its hooks against ours, which is what the checks in
`checks.py` do; BUGS in `shelf.py` are changes that people have really made. Knows no page.
"""
