"""What others have trained: checkpoints as Hugging Face lays them out, from a folder or dropped on a page."""
