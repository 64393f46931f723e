"""`make bench`: ours beside PyTorch and JAX on this machine; `make bench-cuda`: beside PyTorch on its GPU."""

from __future__ import annotations

import sys

from comparison import Comparison
from engines import Failed
from options import parse


def main(arguments: list[str]) -> None:
    comparison = Comparison(parse(arguments))
    comparison.prepare()
    for model in comparison.options.models:
        comparison.run(model)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failure:
        sys.exit(f"bench: error: {failure}")
    except KeyboardInterrupt:
        sys.exit("bench: interrupted")
