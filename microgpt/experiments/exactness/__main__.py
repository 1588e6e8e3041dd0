"""`python -m microgpt.experiments.exactness` prints data/exactness.json anew."""

from microgpt.experiments.exactness.measure import as_json

if __name__ == "__main__":
    print(as_json())
