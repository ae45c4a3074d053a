from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

HERE = Path(__file__).parent
INTEGERS, FLOATS = (
    {"total", "classes", "copies", "length", "parts", "rows", "channels", "places", "cells", "number", "samples"},
    {"k", "a", "b", "eps", "off", "scale", "spread"},
)


def test_each_kernel_gives_what_the_plain_path_gives():
    """In its own process: Triton reads TRITON_INTERPRET when kernels are defined."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "interpreted.py")]
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=HERE.parent.parent)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout or "100%" in done.stdout


CASES = [
    (
        "_move",
        {"source": "*fp32", "result": "*fp32", "plan": "*i64"},
        {"UNIT": triton.language.int64, "HEIGHT": 224, "WIDTH": 112, "WIDE": 16, "BLOCKS": 7},
    ),
    ("_order", {"noise": "*fp32", "plan": "*i64"}, {"BLOCKS": 7, "SIDE": 8}),
    ("_count_many", {"prediction": "*i64", "target": "*i64", "counts": "*i32", "ignore": "i64"}, {"BLOCK": 1024}),
    (
        "_count_few",
        {"prediction": "*u8", "target": "*i64", "counts": "*i32", "ignore": "i64"},
        {"BINS": 512, "BLOCK": 2048},
    ),
    (
        "_overlap_sums",
        {"scores": "*fp32", "targets": "*u8", "sums": "*fp32", "ignore": "i32"},
        {"FLAGS": 15, "BLOCK": 1024},
    ),
    (
        "_overlap_finish",
        {"sums": "*fp32", "kept": "*fp32", "loss": "*fp32", "sizes": ("i32",) * 2, "ratio": ("fp32",) * 5},
        {"REDUCED": True, "ROWS": 32, "PARTS": 64},
    ),
    (
        "_overlap_back",
        {
            "scores": "*bf16",
            "targets": "*fp32",
            "kept": "*fp32",
            "above": "*fp32",
            "grad": "*bf16",
            "numbers": ("i32", "i32", "fp32"),
        },
        {"FLAGS": 19, "BLOCK": 2048},
    ),
    (
        "_smooth_rows",
        {
            "logits": "*fp32",
            "target": "*i64",
            "out": "*fp32",
            "kept": "*fp32",
            "sizes": ("i32",) * 2,
            "labels": ("fp32", "i32"),
        },
        {"REDUCED": True, "BLOCK": 1024},
    ),
    ("_smooth_finish", {"sums": "*fp32", "loss": "*fp32", "kept": "*fp32"}, {"MEAN": True, "BLOCK": 4096}),
    (
        "_smooth_back",
        {
            "logits": "*bf16",
            "target": "*i64",
            "kept": "*fp32",
            "above": "*fp32",
            "grad": "*bf16",
            "numbers": ("i32", "i32", "fp32"),
        },
        {"REDUCED": False, "BLOCK": 16},
    ),
    ("_abs_parts", {"table": "*i64", "out": "*fp32"}, {"BLOCK": 4096}),
    ("_gram", {"x": "*fp32", "out": "*fp32", "parts": "*fp32"}, {"PRECISION": "tf32", "TILE": 128}),
    ("_gram", {"x": "*bf16", "out": "*fp32", "parts": "*fp32"}, {"PRECISION": "ieee", "TILE": 32}),
    ("_root", {"out": "*fp32", "parts": "*fp32"}, {"BLOCK": 4096}),
    ("_scale", {"out": "*fp32", "parts": "*fp32", "norms": "*fp32"}, {"NUMBER": 16, "BLOCK": 4096}),
]


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize(
    ("name", "pointers", "constants"), CASES, ids=[f"{i}{case[0]}" for i, case in enumerate(CASES)]
)
def test_each_kernel_compiles_for_a_gpu_that_is_not_there(name, pointers, constants, tmp_path, monkeypatch):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from torchlore.recipes import _kernels, _kernels_class

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel = getattr(_kernels, name, None) or getattr(_kernels_class, name)
    signature = {}
    for argument in kernel.arg_names:
        number = "i32" if argument in INTEGERS else "fp32" if argument in FLOATS else ""
        signature[argument] = "constexpr" if argument in constants else pointers.get(argument, number)
    places = {(kernel.arg_names.index(key),): value for key, value in constants.items()}
    built = triton.compile(
        ASTSource(fn=kernel, signature=signature, constexprs=places), target=GPUTarget("cuda", 90, 32)
    )
    assert ".visible .entry" in built.asm["ptx"]
