"""How much of what ranks send hides behind their computing, between two hosts on a slow network."""

from __future__ import annotations

import json

from hosts import Hosts
from job import Unable, Workplace
from measure import median
from options import Case
from report import spread, table

RANKS = 2
BACKWARD = 2 / 3  # of the arithmetic of a step
EXCHANGES = 3


def measure(place: Workplace, case: Case) -> str:
    if len(place.options.cores) < RANKS * case.threads:
        raise Unable(f"{RANKS} ranks of {case.threads} thread(s) need cores of their own")
    if not place.exchange.exists():
        raise Unable(f"there is no {place.exchange}; build the target ranks_exchange")
    text = place.documents(case, RANKS * case.batch)
    with Hosts(place) as hosts:

        def train(*more: str) -> list[float]:
            out = place.new("run")
            hosts.run(case.threads, [str(place.program), *place.settings(case, RANKS, text, out, *more)])
            return place.read(out).ms

        times: dict[str, list[float]] = {"unlimited": train(), "on": [], "off": []}
        sent = 4 * case.parameters * (RANKS - 1) / RANKS  # bytes of the gradient, by each rank
        backward = BACKWARD * median(times["unlimited"])
        rate = 1e3 * sent / (backward / 2)
        command = [str(place.exchange), str(case.parameters), str(EXCHANGES)]
        for _ in range(2):  # a connection does not reach its limit
            hosts.limit(rate)
            exchange = median(json.loads(hosts.run(case.threads, command))["fixed_order_ms"])
            rate *= exchange / (backward / 2)
        for turn in range(place.options.rounds):
            if turn:
                hosts.limit(None)
                times["unlimited"] += train()
            hosts.limit(rate)
            times["on"] += train("distributed.overlap=true")
            times["off"] += train("distributed.overlap=false")
    unlimited, on, off = (median(times[name]) for name in ("unlimited", "on", "off"))
    rows = [
        ["no limit", spread(times["unlimited"])],
        [f"{8e-6 * rate:.0f} Mbit/s, distributed.overlap=true", spread(times["on"])],
        [f"{8e-6 * rate:.0f} Mbit/s, distributed.overlap=false", spread(times["off"])],
    ]
    return (
        f"### Overlap\n\n{case.title}, one rank on each of two network namespaces, {case.threads} "
        f"thread(s). The bandwidth is such that the exchange of the gradient ({sent / 1e6:.1f} MB each way) takes "
        f"half of the backward pass, which is taken for two thirds of a step without limit ({backward:.0f} ms).\n\n"
        f"{table(['network', 'ms a step'], rows)}\n"
        f"Hidden: **{share(off - on, off - unlimited)}** of all that the limit costs, which is the exchange of the "
        "gradient before the update and as much for the parameters after it. Nothing hides the embedding in either.\n"
    )


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "nothing to hide"
