"""What watches torch needs torch; the files say so themselves where they do not."""

import importlib.util

collect_ignore = []
if importlib.util.find_spec("torch") is None:
    collect_ignore = [
        "models.py",
        "test_attach.py",
        "test_callbacks.py",
        "test_checkpoints.py",
        "test_curvature.py",
        "test_jax_parity.py",
        "test_rules.py",
        "test_undisturbed.py",
    ]
