"""Bring a folder up to date with what was built, and leave alone what no build has written.

A build replaces and removes what the list of the last one names (manifest.py), as long as it is as it was written. What
else lies in the folder stays: a .git, a CNAME, pages of your own. What somebody has changed since counts as theirs: if
a new file would take its place, the build stops before it changes anything; if not, it stays where it is.

In every moment each file is a whole one, old or new. What pages load comes before the pages, and what is not needed any
more goes last. A failure brings everything back as it was. A killed build cannot do that; its list then names the old
and the new files, and the next build sees to the rest.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path, PurePosixPath

from microgpt.errors import N_, UserError
from tools.output.manifest import MANIFEST, as_text, digests, standing, written
from tools.output.scratch import alone

SHOWN = 3  # of what is in the way, so many are named


def refuse_unknown(out: Path) -> None:
    """A folder with files in it, of which no build has said which are its own, is not built into."""
    if out.exists() and not out.is_dir():
        raise UserError(N_("%(out)s is a file, and a build writes a folder. Choose another --out."), out=out)
    there = [path.name for path in out.iterdir()] if out.is_dir() else []
    if MANIFEST not in there and any(not name.startswith(".") for name in there):
        raise UserError(
            N_(
                "%(out)s is not empty and has no %(list)s, which says what in it is a build's. If it is an old site, "
                "remove it. Or choose another --out. Or, for a site beside what is there, put an empty file of that "
                "name into it."
            ),
            out=out, list=MANIFEST,
        )  # fmt: skip


def renew(fresh: Path, out: Path, spare: Path) -> list[str]:
    """Move the files of `fresh` into `out`. Returns what the last build wrote, somebody changed, and is kept.

    `spare` is a folder to make, on the same disk: what is replaced lies there until all is done.
    Raises UserError, before anything is changed, when a file in `out` that no build wrote is in the way.
    """
    with alone(out):
        old, new = written(out), digests(fresh)
        there = {name: standing(out, name) for name in {*old, *new}}
        in_the_way = [n for n in sorted(new) if there[n] not in {"", new[n], *old.get(n, ())}]
        if in_the_way:
            raise UserError(
                N_(
                    "%(out)s holds what no build wrote, or what was changed since, where the new site has a file: "
                    "%(files)s. Nothing was changed. Move it away, or choose another --out."
                ),
                out=out, files=", ".join(in_the_way[:SHOWN]) + (" ..." if len(in_the_way) > SHOWN else ""),
            )  # fmt: skip
        stale = [n for n in sorted(old) if n not in new and there[n] in old[n]]
        coming = sorted((n for n in new if there[n] != new[n]), key=turn)
        both = {n: {*old.get(n, ()), *([new[n]] if n in new else [])} for n in {*old, *new}}
        changes = Changes(out, spare)
        try:
            changes.write(MANIFEST, as_text(both))
            for name in coming:
                changes.put(fresh / name, name)
            for name in stale:
                changes.remove(name)
            changes.write(MANIFEST, as_text({name: [sha] for name, sha in new.items()}))
        except BaseException:
            changes.take_back()
            raise
        return [n for n in sorted(old) if n not in new and there[n] and there[n] not in old[n]]


def turn(name: str) -> tuple[bool, bool, str]:
    """What other files load comes first: the runtime, whose folder has a name of its own; the pages last."""
    return not name.startswith("runtime-"), name.endswith(".html"), name


class Changes:
    """What is done to the files of `out`, and how to take it back."""

    def __init__(self, out: Path, spare: Path) -> None:
        self.out, self.spare = out, spare
        self.was_there: dict[str, bool] = {}

    def write(self, name: str, text: str) -> None:
        path = self.kept(name).with_name("to come")
        path.write_bytes(text.encode())
        self.put(path, name)

    def put(self, file: Path, name: str) -> None:
        """Move `file` to where its name says. What was there is copied first, so that no moment is without it."""
        place, kept = self.out / name, self.kept(name)
        if name not in self.was_there and place.exists():
            shutil.copy2(place, kept.with_name("half"))
            os.replace(kept.with_name("half"), kept)
        self.was_there.setdefault(name, kept.exists())
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, place)

    def remove(self, name: str) -> None:
        """Move it out of the way, and the folders that it leaves empty."""
        self.was_there[name] = True
        os.replace(self.out / name, self.kept(name))
        self.tidy(name)

    def kept(self, name: str) -> Path:
        """Where that file is kept; its folder is there."""
        path = self.spare / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def tidy(self, name: str) -> None:
        for parent in [*PurePosixPath(name).parents][:-1]:
            with suppress(OSError):  # something else is in it
                (self.out / parent).rmdir()

    def take_back(self) -> None:
        """The list of files, which was the first to change, is the last to be as it was."""
        try:
            for name, was_there in reversed(self.was_there.items()):
                place, kept = self.out / name, self.spare / name
                if kept.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(kept, place)
                elif not was_there:
                    place.unlink(missing_ok=True)
                    self.tidy(name)
        except OSError as error:
            raise UserError(
                N_("%(out)s is partly old and partly new now (%(why)s). Build again: that brings it in order."),
                out=self.out, why=error,
            ) from None  # fmt: skip
