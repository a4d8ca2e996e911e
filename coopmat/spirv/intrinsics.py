"""Rewriting of calls of LLVM's intrinsics that the SPIR-V backend (22.1) compiles wrongly.

This file uses only the standard library: the emitter (`emitter.py`) loads it without the package.
"""

from __future__ import annotations

import itertools
import math
import re


def without_intrinsics(ir: str) -> str:
    """Return the text with other code in place of llvm.bitreverse and short llvm.memmove; without them, the same."""
    text = _with_reversals(ir) if "@llvm.bitreverse." in ir else ir
    return _with_short_moves(text) if "@llvm.memmove." in text else text


_ATTRIBUTE = r"(?:(?!align|getelementptr|addrspacecast)\w+(?:\([^()]*\))? )*"
_POINTER = (
    rf"(ptr(?: addrspace\(\d\))?) {_ATTRIBUTE}(?:align (\d+) )?{_ATTRIBUTE}([@%](?:\"[^\"]*\"|[\w.$-]+)|\w+ .*?\))"
)
_SHORT_MOVE = re.compile(
    rf"^.*call void @llvm\.memmove\.\S+\({_POINTER}, {_POINTER}, i(?:32|64) ([1-6]?\d), i1 \w+\).*\n", re.MULTILINE
)


def _with_short_moves(ir: str) -> str:
    """Replace each llvm.memmove of fewer than 70 bytes by loads of all bytes, followed by the stores.

    Of up to 64 bytes, the backend makes an OpCopyMemorySized, whose source and target must not overlap. It makes loops
    of others.
    """
    names = (f'%"moved {number}"' for number in itertools.count())

    def rewrite(call: re.Match[str]) -> str:
        to, to_align, target, from_, from_align, source, size = call.groups()
        step = math.gcd(int(size), int(to_align or 1), int(from_align or 1), 8)
        loads, stores = [], []
        for offset in range(0, int(size), step):
            at, value, there = next(names), next(names), next(names)
            loads.append(f"  {at} = getelementptr inbounds i8, {from_} {source}, i64 {offset}\n")
            loads.append(f"  {value} = load i{8 * step}, {from_} {at}, align {step}\n")
            stores.append(f"  {there} = getelementptr inbounds i8, {to} {target}, i64 {offset}\n")
            stores.append(f"  store i{8 * step} {value}, {to} {there}, align {step}\n")
        return "".join(loads + stores)

    return _SHORT_MOVE.sub(rewrite, ir)


_REVERSAL = re.compile(r"^declare (.*?(i\d+)>?) @llvm\.(bitreverse\.\w+)\(.*$", re.MULTILINE)


def _with_reversals(ir: str) -> str:
    """Replace llvm.bitreverse, which optimisation makes from shifts and masks, by functions that this text defines.

    The SPIR-V instruction needs SPV_KHR_bit_instructions, which few drivers have; without it the backend crashes.
    """

    def define(match: re.Match[str]) -> str:
        kind, element, name = match.groups()
        width, value, lines = int(element[1:]), "%0", []
        everything, step = (1 << width) - 1, width // 2
        while step:
            # The mask of the lower half of every 2 * step bits: the halves swap, then the halves of these.
            low, by = (
                f"splat ({element} {n})" if kind != element else str(n) for n in (everything // ((1 << step) + 1), step)
            )
            lines += [
                f"%up{step} = and {kind} {value}, {low}",
                f"%left{step} = shl {kind} %up{step}, {by}",
                f"%down{step} = lshr {kind} {value}, {by}",
                f"%right{step} = and {kind} %down{step}, {low}",
                f"%both{step} = or {kind} %left{step}, %right{step}",
            ]
            value, step = f"%both{step}", step // 2
        body = "".join(f"  {line}\n" for line in [*lines, f"ret {kind} {value}"])
        return f"define internal {kind} @coopmat.{name}({kind} %0) {{\n{body}}}"

    return _REVERSAL.sub(define, ir).replace("@llvm.bitreverse.", "@coopmat.bitreverse.")
