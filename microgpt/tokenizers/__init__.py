"""A tokenizer.json in plain Python, in the words that the file itself uses.

In the order in which a text meets them: normalizers change the text, added_tokens are found in it, pre_tokenizers cut
it into words, models cut words into tokens, and decoders make a text of tokens again. tokenizer_json puts them together
as the file says, limits bound what a file may ask for, library holds the tokenizers library to the same, and
checkpoint_tokenizer gives either of them the methods of our own tokenizers.
"""
