"""Faults of the model, its gradients and sampling."""

from tests.faults.fault import Fault

MODEL, DECODE = "microgpt/model.py", "microgpt/decode.py"
GOLDEN = "tests/test_model.py::test_the_shipped_names_model_computes_what_microgpt_computes"

MATHS = [
    Fault(
        "window-one-too-wide", "maths", MODEL,
        "sees &= at - of < window", "sees &= at - of <= window",
        ("tests/test_model.py::test_a_window_hides_the_rows_that_are_too_old_and_no_others",),
    ),
    Fault(
        "scale-left-out", "maths", MODEL,
        "scale = config.attn_scale or config.head_dim**-0.5", "scale = config.attn_scale or 1.0",
        (GOLDEN,),
    ),
    Fault(
        "keys-mixed-for-values", "maths", MODEL,
        "mixed = mix(weights, values)  #", "mixed = mix(weights, keys)  #",
        (GOLDEN,),
    ),
    Fault(
        "rope-begins-anew-in-each-pass", "maths", MODEL,
        "ROTATIONS[config.position](config, positions,", "ROTATIONS[config.position](config, range(len(positions)),",
        ("tests/test_model.py::test_cached_recomputed_and_parallel_agree",),
    ),
    Fault(
        "keys-cached-before-rope", "maths", MODEL,
        'k = rotate(project(a, params, here + "wk", config.n_kv_head, eps))',
        'k = project(a, params, here + "wk", config.n_kv_head, eps)',
        ("tests/test_model.py::test_rotated_scores_depend_on_distance_alone",),
    ),
    Fault(
        "softmax-without-the-largest", "maths", MODEL,
        "e: Array = x - x.max(axis=-1, keepdims=True)", "e: Array = x.copy()",
        ("tests/test_decode.py::test_a_temperature_near_zero_is_greedy_and_overflows_nothing",),
    ),
    Fault(
        "softmax-over-the-heads", "maths", MODEL,
        "e /= e.sum(axis=-1, keepdims=True)", "e /= e.sum(axis=0, keepdims=True)",
        (GOLDEN, "tests/test_model.py"),
    ),
    Fault(
        "norm-without-eps", "maths", MODEL,
        "return x / np.sqrt(mean(x * x) + eps)", "return x / np.sqrt(mean(x * x))",
        (GOLDEN, "tests/test_model.py"),
    ),
    Fault(
        "residual-left-out", "maths", MODEL,
        "x = x + mlp_out  #", "x = mlp_out  #",
        (GOLDEN,),
    ),
    Fault(
        "heads-grouped-in-turns", "maths", MODEL,
        "q.swapaxes(0, 1).reshape(n_kv_head, -1, head_dim)  # query",
        "q.reshape(n, -1, n_kv_head, head_dim).transpose(2, 1, 0, 3).reshape(n_kv_head, -1, head_dim)  # query",
        ("tests/test_model.py", "tests/test_backward.py", "tests/test_train.py"),
    ),
    Fault(
        "ties-go-to-the-later-token", "maths", DECODE,
        'near[np.argsort(-logits[near], kind="stable")[:n]]', 'near[np.argsort(logits[near], kind="stable")[::-1][:n]]',
        ("tests/test_decode.py::test_top_k_of_one_is_greedy_and_ties_go_to_the_earlier_token",),
    ),
    Fault(
        "norm-gradient-keeps-what-points-along", "maths", "microgpt/backward.py",
        "return (dy - x * along) / np.sqrt(mean_square)", "return dy / np.sqrt(mean_square)",
        ("tests/test_backward.py::test_every_gradient_is_the_complex_step_derivative",),
    ),
    Fault(
        "adam-without-bias-correction", "maths", "microgpt/train.py",
        "m_share = (1 - BETA1) / (1 - BETA1**step)", "m_share = 1 - BETA1",
        ("tests/test_train.py::test_ten_steps_of_adam_equal_the_textbook_form",),
    ),
]  # fmt: skip
