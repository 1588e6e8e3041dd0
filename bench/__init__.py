"""Speed and size, as ratios against a named yardstick that is measured in the same run. `python -m bench`"""
