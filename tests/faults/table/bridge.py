"""Faults of the four scripts of the site."""

from tests.faults.fault import Fault

BOOT, HOST, WORKER, OFFLINE = "site/boot.js", "site/host.js", "site/worker.js", "site/offline.js"
FAULTS = "tests/browser/python/test_faults.py"

BRIDGE = [
    Fault(
        "press-lost-while-busy", "bridge", BOOT,
        "if (busy) return (waiting = [hook, fields, files]);", "if (busy) return;",
        ("tests/browser/python/test_training.py",),
    ),
    Fault(
        "answer-put-beside-its-target", "bridge", BOOT,
        'append: "append", inner:', 'append: "after", inner:',
        ("tests/browser/python/test_live.py::test_the_live_picture_is_the_built_one_byte_for_byte",),
    ),
    Fault(
        "damaged-file-runs", "bridge", BOOT,
        '.join("").startsWith(sha256);', '.join("").length === 64;',
        (f"{FAULTS}::test_no_file_with_a_flipped_bit_runs",),
    ),
    Fault(
        "worker-not-ended", "bridge", BOOT,
        "    mine.worker?.terminate();\n", "",
        (f"{FAULTS}::test_python_that_died_says_so_and_goes_on_from_the_same_state",),
    ),
    Fault(
        "no-second-try", "bridge", BOOT,
        'if (cache === "default") return', 'if (cache === "never") return',
        (f"{FAULTS}::test_what_was_wrong_once_is_asked_for_again_by_itself",),
    ),
    Fault(
        "count-that-never-ends", "bridge", BOOT,
        "say(); // that all is there", "// that all is there",
        (f"{FAULTS}::test_megabytes_are_counted_while_it_loads",),
    ),
    Fault(
        "wrong-value-in-the-address-ignored", "bridge", HOST,
        'for (const line of all("[data-wrong]")) line.textContent', "for (const line of []) line.textContent",
        ("tests/browser/hosting/test_address.py::test_a_wrong_value_is_said_and_the_rest_holds",),
    ),
    Fault(
        "height-told-once", "bridge", HOST,
        'if (data === "microgpt:height") tell();', 'if (data === "height") tell();',
        ("tests/browser/hosting/test_address.py::"
         "test_a_host_learns_the_height_of_a_frame_and_may_ask_for_it",),
    ),
    Fault(
        "rest-of-python-never-found", "bridge", WORKER,
        '    pyodide.pyimport("sitecustomize").FINDER.add(`/lib/${LATER}`);\n', "",
        (f"{FAULTS}::test_a_first_step_does_not_wait_for_the_rest_and_what_needs_it_says_why_it_does_not_come",),
    ),
    Fault(
        "kept-the-login-page", "bridge", OFFLINE,
        "!(await copy.clone().text()).includes(MARK)", "false",
        ("tests/browser/hosting/test_offline.py::test_what_fails_does_not_replace_what_is_kept",),
    ),
    Fault(
        "height-told-for-each-message", "bridge", HOST,
        "(due ??= setTimeout(", "(due = setTimeout(",
        ("tests/browser/hosting/test_address.py::"
         "test_a_host_learns_the_height_of_a_frame_and_may_ask_for_it",),
    ),
    Fault(
        "kept-what-must-not-be", "bridge", OFFLINE,
        '  if (/no-store/.test(headers.get("Cache-Control"))) return;\n', "",
        ("tests/browser/hosting/test_offline.py::test_what_is_not_a_whole_answer_is_handed_on_and_not_kept",),
    ),
]  # fmt: skip
