"""What others have published: shapes of models; what microgpt prints when it is trained on names.txt, and writes."""

from microgpt.architectures.known import PRESETS

GPT2, LLAMA3 = PRESETS["GPT-2 124M"].config, PRESETS["Llama-3-8B"].config
LOSSES = "3.3660 3.4243 3.1778 3.0664 3.2209 2.9452 3.2894 3.3245 2.8990 3.2229 2.7964 2.9345 3.0544".split()
NAMES = (
    "kamon ann karai jaire vialan karia yeran anna areli kaina konna keylen liole alerin earan lenne kana lara "
    "alela anton"
).split()
