"""Models that run in Hugging Face transformers, told and recorded as our own are.

Needs torch: pip install -e ".[torch]".
"""
