"""Makes a failing program smaller while it fails in the same way."""

import copy
import dataclasses
import tempfile
from pathlib import Path

import tree
from compiler import classify

AT_ONCE = 16  # candidates compiled together


def shrink(program, outcome, toolchain):
    whole = tree.Node('text', program.root, program.arguments)
    if outcome.kind in ('refused', 'generated', 'compiler'):
        toolchain = dataclasses.replace(toolchain, flags=(*toolchain.flags, '-fsyntax-only'), run=False)

    def fails(trees):
        with tempfile.TemporaryDirectory(prefix='clad_shrink_') as folder:
            outcomes = classify([_program(program, t) for t in trees], toolchain, Path(folder))
        return [(o.kind, o.what) == (outcome.kind, outcome.what) for o in outcomes]

    while True:
        smaller = _step(whole, fails)
        if smaller is None:
            return _program(program, whole)
        whole = smaller


def _program(program, whole):
    made = copy.copy(program)
    made.root, made.arguments = whole.parts[0], whole.parts[1]
    return made


def _step(whole, fails):
    """The tree with as much left out as the first edits after which it still fails."""
    todo = tree.edits(whole)
    for first in range(0, len(todo), AT_ONCE):
        edits = todo[first:first + AT_ONCE]
        good = [e for e, failed in zip(edits, fails([tree.apply(whole, [e]) for e in edits])) if failed]
        while len(good) > 1:
            together = tree.apply(whole, good)
            if fails([together])[0]:
                return together
            good = good[:len(good) // 2]
        if good:
            return tree.apply(whole, good)
    return None
