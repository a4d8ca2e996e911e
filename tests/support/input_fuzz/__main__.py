"""`python -m input_fuzz`: compile mutated inputs, each of which must compile or be rejected. See tools/fuzz-inputs."""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

from spread import CLUSTER_HELP

from . import campaign


def main() -> int:
    """Return the exit status: 1 if there is a finding."""
    options = _options()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    numbers = range(first, first + options.count)
    import coopmat

    print(f"{options.count} inputs of the seeds {first} to {numbers[-1]}, {options.jobs} jobs, {coopmat.__file__}")

    def say(line: str) -> None:
        print(line, flush=True)

    if options.cluster:
        report = campaign.run_on_cluster(options.cluster, numbers, say)
    else:
        report = campaign.run(numbers, options.jobs, say)
    for finding in report.findings:
        if options.keep:
            _keep(finding, options.keep)
    known = Counter(finding.signature for finding in report.findings)
    for signature, count in known.most_common():
        example = next(finding for finding in report.findings if finding.signature == signature)
        print(
            f"\n{count} x {signature}\nseed {example.case.seed}: {' '.join(example.case.options)}",
            example.text[:1500],
            sep="\n",
        )
    print("\n" + ", ".join(f"{name} {count}" for name, count in sorted(report.outcomes.items())))
    rate = report.inputs / max(report.seconds, 1e-9)
    print(
        f"{report.inputs} inputs, seeds {numbers[0]} to {numbers[-1]}: {len(report.findings)} findings of {len(known)} "
        f"kinds; {report.seconds:.0f} s, {rate:.0f} inputs each second"
    )
    return 1 if report.findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/fuzz-inputs",
        description="Compiles damaged and overgrown inputs: OpenCL C, LLVM IR, SPIR-V. Each has 20 s of processors"
        " and 2 GB of addresses; a crash, an internal error and what takes more are findings. PYTHONPATH may name"
        " another version of the package.",
    )
    parser.add_argument("--count", type=int, default=5000, help="inputs; each has a seed of its own (5000)")
    parser.add_argument("--seed", type=int, help="the first input's; the others count on (random)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--cluster", metavar="ADDRESS", help=CLUSTER_HELP)
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where the inputs of findings go, as SEED.cl and so on"
    )
    options = parser.parse_args()
    if options.count < 1 or options.jobs < 1:
        parser.error("--count and --jobs must be at least 1")
    return options


def _keep(finding: campaign.Finding, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    text = finding.case.input.text
    suffix = {"cl": ".cl", "ir": ".ll", "spv": ".spvasm" if isinstance(text, str) else ".spv"}
    data = text if isinstance(text, bytes) else text.encode(errors="surrogateescape")
    (place / f"{finding.case.seed}{suffix[finding.case.input.language]}").write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
