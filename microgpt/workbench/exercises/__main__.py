"""`python -m microgpt.workbench.exercises FOLDER`: all exercises, as files for pytest and as notebooks."""

import argparse
from pathlib import Path

from microgpt.files import write_whole
from microgpt.workbench.exercises import EXERCISES, exercise
from microgpt.workbench.exercises.notebooks import files_of


def main() -> None:
    parser = argparse.ArgumentParser(description="Write all exercises into a folder.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    write_whole({folder / name: text for one in EXERCISES for name, text in files_of(exercise(one)).items()})
    print(f"{folder}: {len(EXERCISES)} exercises, for pytest, nbgrader and Otter-Grader")


if __name__ == "__main__":
    main()
