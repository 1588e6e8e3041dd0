"""Faults of what is seen, heard and pressed: of views, templates and styles."""

from tests.faults.fault import Fault

SWEEP = "tests/browser/pages/test_sweep.py::test_a_page_holds_at_any_width_and_in_any_state"
READS = "tests/browser/lessons/test_lessons.py::test_a_lesson_works_in_the_strictest_host"
MACHINE = "microgpt/course/kv_cache/style.css"
EVERY_PRESS = "tests/browser/pages/test_machine.py::test_play_plays_at_every_press_and_moves_nothing_beside"

PAGES = [
    Fault(
        "bound-that-does-not-hold", "pages", "microgpt/viz/text/formats.py",
        "(-12, -9, -6, -3) if value < 10.0**e", "(-12, -9, -6, -3) if value < 10.0 ** (e + 1.5)",
        ("tests/viz/test_formats.py", "tests/course/with_and_without/test_lesson.py"),
    ),
    Fault(
        "bound-rounded-to-the-nearest", "pages", "microgpt/viz/text/formats.py",
        "rel_tol=NOISE) else side(steps)", "rel_tol=NOISE) else near",
        ("tests/viz/test_formats.py", "tests/course/reading_limit/test_lesson.py"),
    ),
    Fault(
        "one-of-many", "pages", "microgpt/course/prefill_and_decode/passes.html",
        "after {{ start }} row; the cache", "after {{ start }} rows; the cache",
        ("tests/viz/test_markup.py::test_every_page_is_sound",),
    ),
    Fault(
        "limit-in-megabytes-too-few", "pages", "microgpt/files.py",
        'f"{math.ceil(n / 1e6):,}"', 'f"{round(n / 1e6):,}"',
        ("tests/viz/test_formats.py",),
    ),
    Fault(
        "question-with-another-right-answer", "pages", "microgpt/course/memory/prose.html",
        'room=asks.room|size_text), asks.fit, "right", {', 'room=asks.room|size_text), asks.fit, "twice", {',
        ("tests/course/test_questions.py",),
    ),
    Fault(
        "untranslated-sentence", "pages", "templates/pages/_print.html",
        "{% trans %}print the answers on a last sheet{% endtrans %}", "print the answers on a last sheet",
        ("tests/test_messages.py",),
    ),
    Fault(
        "letter-of-another-row", "pages", "microgpt/course/fewer_heads/widget.html",
        "{{ kind|upper }}{{ group.at }}", '{{ "V" if kind == "k" else "K" }}{{ group.at }}',
        ("tests/course/fewer_heads/test_lesson.py",),
    ),
    Fault(
        "icon-from-another-host", "pages", "templates/_head.html",
        'href="{{ assets.icon or up ~ "icon.svg" }}"', 'href="https://example.org/icon.svg"',
        ("tests/viz/test_pages.py::test_no_inline_script_or_style_and_nothing_from_elsewhere",),
    ),
    Fault(
        "page-in-the-wrong-language", "pages", "templates/base.html",
        ' lang="{{ lang }}">\n<head>', ' lang="en">\n<head>',
        ("tests/test_messages.py::test_a_page_says_which_language_it_is_in",),
    ),
    Fault(
        "dead-link", "pages", "templates/base.html",
        'href="{{ up }}NOTICES.txt"', 'href="{{ up }}LICENCES.txt"',
        ("tests/test_build.py::test_every_link_leads_somewhere",),
    ),
    Fault(
        "heading-of-a-column-missing", "pages", "microgpt/course/kv_cache/_step.html",
        '<th class="say" scope="col">{% trans %}reads{% endtrans %}</th></tr></thead>', "</tr></thead>",
        ("tests/browser/pages/test_access.py::test_the_step_on_show_is_told_as_tables_and_one_sentence",),
    ),
    Fault(
        "radio-without-a-label", "pages", "templates/_settings.html",
        '<label><input type="radio" name="{{ THEME.name }}" value="{{ name }}"'
        '{{ " checked" if name == THEME.at }}><span class="face">{{ labels[loop.index0] }}</span></label>',
        '<span><input type="radio" name="{{ THEME.name }}" value="{{ name }}"'
        '{{ " checked" if name == THEME.at }}><span class="face">{{ labels[loop.index0] }}</span></span>',
        (f"{SWEEP}[glossary-en]",),
    ),
    Fault(
        "colour-with-too-little-contrast", "pages", "site/css/1-tokens.css",
        "--soft: light-dark(#5b6068,", "--soft: light-dark(#8b9098,",
        (f"{SWEEP}[glossary-en]",),
    ),
    Fault(
        "code-that-scrolls-the-page-sideways", "pages", "site/css/6-lesson.css",
        "font-size: var(--small); white-space: pre-wrap; overflow-wrap: anywhere; }", "font-size: var(--small); }",
        (f"{SWEEP}[prefill-and-decode-en]",),
    ),
    Fault(
        "target-too-small", "pages", "site/css/3-layout.css",
        "header.site nav a { padding: .25rem 0;", "header.site nav a { padding: 0;",
        (f"{SWEEP}[glossary-en]",),
    ),
    Fault(
        "cell-too-narrow", "pages", MACHINE,
        "--size: min(var(--figures, .875rem), var(--wide) / 12.75, var(--h) * .86);",
        "--size: min(var(--figures, .875rem), var(--wide) / 9, var(--h) * .86);",
        (f"{SWEEP}[kv-cache-en]",),
    ),
    Fault(
        "case-not-shown-without-scripts", "pages", "templates/states.css",
        ".cases>.pick:has(.c-{{ i }}:checked)~.panels>.C{{ i }}{display:block;visibility:inherit}",
        ".js .cases>.pick:has(.c-{{ i }}:checked)~.panels>.C{{ i }}{display:block;visibility:inherit}",
        (f"{READS}[old-rows]",),
    ),
    Fault(
        "focus-not-seen", "pages", "site/css/4-parts.css",
        ":focus-visible + .face { outline: 3px solid var(--focus); outline-offset: 2px; }\n@supports",
        ":focus-visible + .face { outline: none; }\n@supports",
        ("tests/browser/lessons/test_lessons.py::test_arrow_keys_choose_and_enter_sends_no_choice_away",),
    ),
    Fault(
        "q-left-on-show", "pages", MACHINE,
        "clamp(0, (1 - var(--out)) * 2.2, 1)); --cover:",
        "clamp(.2, (1 - var(--out)) * 2.2, 1)); --cover:",
        ("tests/browser/pages/test_machine.py::test_q_leaves_the_machine_and_is_gone",),
    ),
    Fault(
        "step-that-shows-later-rows", "pages", "microgpt/course/kv_cache/states.css",
        "~.row{visibility:hidden}", "~.row{visibility:visible}",
        (f"{READS}[kv-cache]",),
    ),
    Fault(
        "cached-and-new-alike-in-forced-colours", "pages", MACHINE,
        ".state.new, .knob i { outline: 2px solid;", ".knob i { outline: 2px solid;",
        ("tests/browser/pages/test_access.py::test_states_are_told_apart_when_colours_are_forced",),
    ),
    Fault(
        "print-that-cuts-a-step", "pages", MACHINE,
        "visibility: visible !important; break-inside: avoid; margin-top: 1rem; padding-top: .625rem;",
        "visibility: visible !important; margin-top: 1rem; padding-top: .625rem;",
        ("tests/browser/pages/test_print.py::test_every_step_is_printed_whole_on_one_sheet",),
    ),
    Fault(
        "printed-bar-out-of-its-cell", "pages", MACHINE,
        "vertical-align: middle; transform: none; translate: none; }", "vertical-align: middle; transform: none; }",
        ("tests/browser/pages/test_print.py::test_the_line_of_a_weight_is_printed_beside_its_number",),
    ),
    Fault(
        "bar-cut-at-a-width", "pages", "site/css/4-parts.css",
        "width: calc(var(--w) * 1%); min-width: 0; }", "width: calc(var(--w) * 1%); max-width: 6rem; }",
        (f"{SWEEP}[prefill-and-decode-en]",),
    ),
    Fault(
        "play-that-plays-every-second-time", "pages", MACHINE,
        ".stepper:has(#plays-once:checked) .over-once, .stepper", ".stepper",
        (f"{EVERY_PRESS}[chromium-letters]",),
    ),
    Fault(
        "stage-that-shows-the-next", "pages", "microgpt/course/inside/states.css",
        "in range(i + 1, stages - 1) %}{{ on }} .b", "in range(i + 2, stages - 1) %}{{ on }} .b",
        ("tests/browser/lessons/test_inside.py::test_stages_add_stops_one_after_another_and_the_way_back_is_the_same[chromium]",),
    ),
    Fault(
        "missing-on-a-large-screen", "pages", "site/css/3-layout.css",
        "{ max-width: 112.5rem; }",
        "{ max-width: 112.5rem; } @media (min-width: 100rem) { .score { opacity: 0 !important; } }",
        (f"{SWEEP}[kv-cache-en]",),
    ),
]  # fmt: skip
