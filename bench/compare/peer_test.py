"""What a peer answers, with an engine that only counts."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from unittest import mock

import numpy as np
import peer


class Fake:
    """Notes what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def note(self, name: str) -> float:
        self.calls.append(name)
        return float(len(self.calls))

    def forward(self) -> float:
        return self.note("forward")

    def forward_backward(self) -> float:
        return self.note("forward_backward")

    def step(self) -> float:
        return self.note("step")

    def queue_step(self) -> None:
        self.note("queue_step")

    def wait(self) -> float:
        return self.note("wait")

    def device_mb(self) -> float:
        return 7.5

    def gradients(self) -> dict[str, np.ndarray]:
        return {}

    def generate(self, count: int) -> list[float]:
        return [1.0] * count


class Answers(unittest.TestCase):
    def setUp(self) -> None:
        self.engine = Fake()

    def replies(self, serve: str, requests: str) -> list[dict]:
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            mock.patch("sys.stdin", io.StringIO(requests)),
        ):
            getattr(peer, serve)(self.engine)
        return [json.loads(line) for line in out.getvalue().splitlines()]

    def test_steps_on_a_device_are_queued_and_waited_for_once(self) -> None:
        with mock.patch("time.perf_counter", side_effect=[10.0, 10.9]):
            first, steps = self.replies("serve_on_device", "step 3\n")
        self.assertEqual(self.engine.calls, ["step", "queue_step", "queue_step", "queue_step", "wait"])
        self.assertEqual(first, {"loss": 1.0, "device_mb": 7.5})
        self.assertEqual((steps["loss"], steps["device_mb"]), (5.0, 7.5))
        self.assertEqual([round(mean, 6) for mean in steps["ms"]], [300.0])

    def test_other_phases_on_a_device_are_single_runs(self) -> None:
        _, reply = self.replies("serve_on_device", "forward_backward 2\n")
        self.assertEqual(self.engine.calls, ["step", "forward_backward", "forward_backward"])
        self.assertEqual((len(reply["ms"]), reply["loss"]), (2, 3.0))

    def test_steps_on_the_processor_are_single_runs_without_memory(self) -> None:
        first, steps, tokens = self.replies("serve", "step 2\ngenerate 4\n")
        self.assertEqual(self.engine.calls, ["step"] * 3)
        self.assertEqual(first, {"loss": 1.0})
        self.assertEqual((len(steps["ms"]), steps["loss"], set(steps)), (2, 3.0, {"ms", "loss"}))
        self.assertEqual(tokens, {"ms": [1.0] * 4, "loss": 3.0})

    def test_out_of_memory_is_one_short_line(self) -> None:
        error = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1 GiB free. See documentation."
        arguments = ["peer.py", "pytorch", "--load", ".", "--batch", "1", "--seq", "1", "--threads", "1"]
        with (
            mock.patch("sys.argv", arguments),
            mock.patch.object(peer, "read_config", return_value={"model_type": "gpt2"}),
            mock.patch.object(peer, "make_engine", side_effect=RuntimeError(error)),
            self.assertRaises(SystemExit) as raised,
        ):
            peer.main()
        self.assertEqual(str(raised.exception), "CUDA out of memory. Tried to allocate 2.00 GiB")


if __name__ == "__main__":
    unittest.main()
