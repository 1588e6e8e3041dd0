"""The command `microgpt`: a page of one text, its trace, or what a file of weights holds.

    microgpt emma                     writes emma.html, one page that steps by itself
    microgpt trace emma               prints every number of the run, as docs/trace.md describes it
    microgpt emma --hook hook.py      tells every number of the run to hook() of that program, in place of all else
    microgpt inspect model.safetensors
    microgpt record --model ORG/NAME --prompt "..." --out trace.json     of any model that transformers runs

Everything that it does is a function of the package; this module reads options and says what is wrong with them.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from microgpt import __version__
from microgpt.checkpoints.__main__ import main as inspect
from microgpt.checkpoints.files import ENDING
from microgpt.checkpoints.folder import load_checkpoint
from microgpt.checkpoints.ours import load
from microgpt.errors import N_, UserError
from microgpt.files import place_of, write_whole
from microgpt.record import Recording
from microgpt.trace import to_json
from microgpt.viz.drawing.picture import MOST_TOKENS
from microgpt.viz.large.excerpt import is_needed
from microgpt.viz.large.heads import check_numbers, parse_numbers, rule_layers, with_rows
from microgpt.viz.large.picture import N_NEW, picture_of_run
from microgpt.viz.notebook import is_folder, show
from microgpt.viz.text.language import LANGUAGES
from microgpt.weights import SHIPPED, Model, shipped
from microgpt.workbench.hooks import load_hook

COMMANDS = ("page", "trace", "record", "inspect")
LONGEST_NAME = 60  # letters of a prompt that become the name of a file


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 1 with a sentence on the error stream."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["inspect"]:
        return inspect(words[1:], "microgpt inspect")
    if not words:
        parser().print_help()
        return 0
    if words[0] not in (*COMMANDS, "-h", "--help", "--version"):
        words.insert(0, "trace" if "--hook" in words else "page")
    options = parser().parse_args(words)
    try:
        options.prompt.encode()
    except UnicodeEncodeError:
        return print_failure("The text holds bytes that are not UTF-8; give it as text.")
    try:
        {"page": write_page, "trace": write_trace, "record": write_record}[options.command](options)
    except UserError as error:
        return print_failure(str(error))
    except KeyboardInterrupt:
        print_failure("stopped")
        return 130
    except BrokenPipeError:  # whoever reads it has enough, as `head` has; Python flushes once more as it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="microgpt",
        description="The KV cache of a GPT made visible. `microgpt TEXT` is short for `microgpt page TEXT`.",
    )
    top.add_argument("--version", action="version", version=f"microgpt {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    page = commands.add_parser("page", help="write one self-contained page on a text")
    page.add_argument(
        "--widget", default="stepper", metavar="NAME", help="another page of the course (default: stepper)"
    )
    page.add_argument("--lang", default="en", choices=sorted(LANGUAGES), help="its language (default: en)")
    page.add_argument("--open", action="store_true", help="open it in the browser")
    trace = commands.add_parser("trace", help="print what the hooks report of a run, as JSON")
    for command, what in (
        (page, "where to (default: the text, with .html)"),
        (trace, "a file (default: to the screen)"),
    ):
        command.add_argument("prompt", metavar="TEXT", help="what the model goes on from")
        command.add_argument(
            "--model",
            default="",
            help=f"{', '.join(SHIPPED)}, the {ENDING} file of one that you trained, or the folder of a checkpoint "
            f"(default: {SHIPPED[0]})",
        )
        command.add_argument("--new", type=int, metavar="N", help="of a checkpoint: how many tokens it adds")
        command.add_argument("--out", type=Path, metavar="FILE", help=what)
    trace.add_argument("--hook", metavar="FILE", help="a program: tell them to its function hook, and print none")
    record = commands.add_parser("record", help="record a text in a model that transformers runs, for a page of it")
    record.add_argument("--model", required=True, metavar="NAME", help="its folder, or its name at huggingface.co")
    record.add_argument("--prompt", required=True, metavar="TEXT", help="what the model goes on from")
    record.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to: build.py --trace reads it")
    record.add_argument(
        "--new", type=int, default=N_NEW, metavar="N", help=f"how many tokens it adds (default: {N_NEW})"
    )
    record.add_argument("--dtype", default="auto", help="what it computes in (default: as it is stored)")
    record.add_argument("--device-map", default=None, metavar="MAP", help="auto: over all devices, by accelerate")
    record.add_argument("--layers", metavar="0,5,11", help="the layers to open (default: first, middle, last)")
    record.add_argument("--heads", metavar="0,3", help="of them, these heads alone (default: all)")
    for command in (page, trace, record):
        command.add_argument("--force", action="store_true", help="replace a file of that name")
    commands.add_parser("inspect", help="list what a file of weights holds")
    return top


def write_page(options: argparse.Namespace) -> None:
    """Write the page, and say where it is."""
    path: Path = options.out or Path(name_for(options.prompt))
    check_free(path, options.force)
    new = {} if options.new is None else {"new": options.new}
    show(options.prompt, options.model, options.widget, lang=options.lang, **new).save(path)
    print(path)
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        raise UserError("No browser could be opened; open “%(path)s” yourself.", path=path)


def write_trace(options: argparse.Namespace) -> None:
    """Print the trace, or write it to a file; or a hook does what it likes with it."""
    if options.out:
        check_free(options.out, options.force)
    hook = load_hook(options.hook) if options.hook else None
    recording = Recording(model_of(options.model), options.prompt, max_new=options.new, hook=hook)
    recording.run()
    if options.out:
        write_whole({options.out: to_json(recording.trace)})
    elif not hook:
        print(to_json(recording.trace), end="", flush=True)


def write_record(options: argparse.Namespace) -> None:
    """Run the text where transformers runs the model, and write what a page shows of it."""
    layers, heads = parse_numbers("layers", options.layers), parse_numbers("heads", options.heads)
    check_free(options.out, options.force)
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        raise UserError(
            "To record a model, install PyTorch and transformers: pip install 'microgpt-kv[torch]'"
        ) from None
    from microgpt.huggingface.recorder import give_back_blocks, record
    from microgpt.huggingface.shape import shape_of

    give_back_blocks()
    try:
        tokenizer = AutoTokenizer.from_pretrained(options.model)
        model = AutoModelForCausalLM.from_pretrained(
            options.model, dtype=options.dtype, device_map=options.device_map
        ).eval()
    except (OSError, ValueError, AttributeError, ImportError, TypeError, RuntimeError) as error:
        why = str(error).strip().partition("\n")[0]
        raise UserError("The model “%(model)s” cannot be loaded (%(why)s).", model=options.model, why=why) from None
    n = len(tokenizer(options.prompt)["input_ids"])
    if not 0 <= options.new < MOST_TOKENS or n + options.new < 2:
        sentence = N_(
            "%(n)s tokens and %(new)s new ones; a page shows the last 2 to %(most)s, one of the prompt among them."
        )
        raise UserError(sentence, n=n, new=options.new, most=MOST_TOKENS)
    config = shape_of(model).config
    check_numbers("layers", layers, config.n_layer)  # before the run, which can take minutes
    check_numbers("heads", heads, config.n_head)
    trace = record(
        model,
        tokenizer,
        options.prompt,
        options.new,
        last=MOST_TOKENS,
        keeps=lambda about: is_needed(layers or rule_layers(with_rows(about))),
    )
    shown = picture_of_run(trace, layers, heads)
    write_whole({options.out: to_json(shown.of_open_heads() if heads else shown.excerpt())})


def check_free(path: Path, force: bool) -> None:
    """Raise UserError, before anything is run, where nothing may be written."""
    try:
        there = place_of(path).exists()
    except UserError:
        raise
    except (OSError, ValueError) as error:
        raise UserError("“%(path)s” cannot be written (%(why)s). Choose another place.", path=path, why=error) from None
    if there and not force:
        raise UserError("“%(path)s” is there already; choose another --out, or replace it with --force.", path=path)


def model_of(name: str) -> Model:
    """A shipped model, or that of a file or a folder."""
    if is_folder(name):
        return load_checkpoint(Path(name))
    if name.endswith(ENDING):
        return load(name)
    return shipped(name or SHIPPED[0])


def name_for(prompt: str) -> str:
    """The name of a file for a text: its letters and digits."""
    letters = re.sub(r"[^\w]+", "-", prompt[:LONGEST_NAME]).strip("-_")
    return f"{letters or 'microgpt'}.html"


def print_failure(sentence: str) -> int:
    print(f"microgpt: {sentence}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
