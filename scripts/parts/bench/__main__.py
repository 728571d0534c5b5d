"""Measures the tools. A subcommand is a module beside this one with TITLE and run(rounds, only), named in SUBCOMMANDS."""

from __future__ import annotations

import argparse
import sys

from scripts.parts.bench import cold, ingest, write
from scripts.parts.bench.report import write_section

# Name: module, rounds by default.
SUBCOMMANDS = {"cold": (cold, 9), "write": (write, 3), "ingest": (ingest, 3)}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measures the tools against bare scripts that do the same work."
    )
    parser.add_argument(
        "subcommand",
        nargs="?",
        choices=SUBCOMMANDS,
        default="cold",
        help="cold: one call each; write: a large result; ingest: a large CSV file",
    )
    parser.add_argument("--rounds", type=int, help="how often each is run")
    parser.add_argument("--only", nargs="+", default=[], metavar="TOOL", help="measure these tools only")
    parser.add_argument("--write-docs", action="store_true", help="put the result into docs/benchmarks.md")
    options = parser.parse_args()
    module, rounds = SUBCOMMANDS[options.subcommand]
    content = module.run(options.rounds or rounds, options.only)
    print(f"{module.TITLE}\n\n{content}")
    if options.write_docs:
        write_section(options.subcommand, module.TITLE, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
