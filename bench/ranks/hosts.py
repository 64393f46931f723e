"""Two hosts on one machine: network namespaces with names of their own, joined by a wire whose bandwidth can be
limited."""

from __future__ import annotations

import os
import shutil
import subprocess
from types import TracebackType

from job import Unable, Workplace

NETWORK = "10.77.0.0/24"
ADDRESSES = ("10.77.0.1", "10.77.0.2")
AGENT = """#!/bin/sh
# What Open MPI calls in place of ssh: the name of the other host, and a command for it.
shift
exec ip netns exec {namespace} unshare --uts sh -c "hostname {namespace} && $*"
"""


def call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unable(f"'{' '.join(command)}': {(done.stderr.strip() or 'no message').splitlines()[-1]}")


class Hosts:
    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.names = [
            f"ranks{os.getpid()}{letter}" for letter in "ab"
        ]  # of the namespaces, and of their ends of the wire
        self.agent = place.folder / "agent"

    def __enter__(self) -> Hosts:
        for program in ("ip", "tc", "unshare", "hostname"):
            if shutil.which(program) is None:
                raise Unable(f"there is no program '{program}'")
        if os.geteuid() != 0:
            raise Unable("only root can make network namespaces")
        try:
            self.make()
        except Unable:
            self.remove()
            raise
        return self

    def make(self) -> None:
        a, b = self.names
        for name in self.names:
            call("ip", "netns", "add", name)
        call("ip", "link", "add", a, "netns", a, "type", "veth", "peer", "name", b, "netns", b)
        for name, address in zip(self.names, ADDRESSES, strict=True):
            call("ip", "-n", name, "addr", "add", f"{address}/24", "dev", name)
            for device in ("lo", name):
                call("ip", "-n", name, "link", "set", device, "up")
        self.agent.write_text(AGENT.format(namespace=b))
        self.agent.chmod(0o755)

    def remove(self) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def limit(self, bytes_per_second: float | None) -> None:
        """In each direction; None for no limit."""
        for name in self.names:
            if bytes_per_second is None:
                subprocess.run(
                    ["tc", "-n", name, "qdisc", "del", "dev", name, "root"], capture_output=True, check=False
                )
                continue
            burst, queue = (
                max(least, int(seconds * bytes_per_second))
                for seconds, least in ((0.004, 1 << 17), (0.02, 1 << 20))
            )
            call(
                "tc",
                "-n",
                name,
                "qdisc",
                "replace",
                "dev",
                name,
                "root",
                "tbf",
                "rate",
                f"{8 * int(bytes_per_second)}bit",
                "burst",
                str(burst),
                "limit",
                str(queue),
            )

    def run(self, threads: int, command: list[str]) -> str:
        """One rank on each host. Returns what they print."""
        line = [
            "mpirun",
            "--bind-to",
            "none",
            "--mca",
            "btl",
            "tcp,self",
            "--mca",
            "btl_tcp_if_include",
            NETWORK,
        ]
        hosts = ",".join(f"{address}:1" for address in ADDRESSES)
        line += ["-host", hosts, "-np", str(len(ADDRESSES))]
        line += self.place.each_pinned(len(ADDRESSES), threads, command)
        first = self.names[0]
        enter = [
            "ip",
            "netns",
            "exec",
            first,
            "unshare",
            "--uts",
            "sh",
            "-c",
            f'hostname {first} && exec "$@"',
            "sh",
        ]
        agent = str(self.agent)
        return self.place.start(
            [*enter, *line],
            threads,
            OMPI_MCA_plm="rsh",
            OMPI_MCA_plm_rsh_agent=agent,
            OMPI_MCA_oob_tcp_if_include=NETWORK,
            PRTE_MCA_plm="ssh",
            PRTE_MCA_plm_ssh_agent=agent,
            PRTE_MCA_prte_if_include=NETWORK,
            PMIX_MCA_ptl_tcp_if_include="lo",
        ).wait()
