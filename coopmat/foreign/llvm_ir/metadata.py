"""The check of metadata that LLVM's SPIR-V backend trusts: a form that it does not expect crashes the process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from .text import Malformed, Module

_NODE = re.compile(r"(!\d+) = (?:distinct )?!\{\s*(.*?)\s*\}")
_NAMED = re.compile(r"!([-\w.$]+) = !\{(.*)\}")
_ATTACHED = re.compile(r"!([-\w.$]+) (!\d+)")
_OPERAND = re.compile(r"!?\"[^\"]*\"|\w+(?: addrspace\(\d+\))? @\"[^\"]*\"|<[^>]*>[^,]*|[^,]+")


class _Form(NamedTuple):
    """The form of a metadata node's operands.

    words: a description, for messages.
    first: patterns of the first operands.
    rest: the pattern of all further operands.
    linked: the form of each node that is an operand.
    """

    words: str
    first: tuple[re.Pattern[str], ...]
    rest: re.Pattern[str] | None
    linked: _Form | None = None


_STRING, _NUMBER, _LINK = re.compile(r'!"[^"]*"'), re.compile(r"i32 -?\d+"), re.compile(r"!\d+")
_FUNCTION = re.compile(r'ptr(?: addrspace\(\d+\))? @(?:"[^"]*"|[-\w.$]+)')
_VALUE_OF_TYPE = re.compile(r"(?:half|bfloat|float|double|i\d+|<\d+ x \w+>) (?:undef|poison)")

_STRINGS = _Form("strings", (), _STRING)
_NUMBERS = _Form("numbers of type i32", (), _NUMBER)
#: kind of metadata attached to a function -> form of its node
_OF_FUNCTIONS = {
    "kernel_arg_access_qual": _STRINGS,
    "kernel_arg_type_qual": _STRINGS,
    "reqd_work_group_size": _NUMBERS,
    "work_group_size_hint": _NUMBERS,
    "intel_reqd_sub_group_size": _NUMBERS,
    "vec_type_hint": _Form("an undefined value of the type, and a number of type i32", (_VALUE_OF_TYPE, _NUMBER), None),
    "spirv.ParameterDecorations": _Form("nodes of nodes", (), _LINK, _Form("nodes of numbers", (), _LINK, _NUMBERS)),
}
#: name of the module's named metadata -> form of each node in its list
_OF_MODULES = {
    "opencl.ocl.version": _NUMBERS,
    "opencl.used.extensions": _STRINGS,
    "opencl.used.optional.core.features": _STRINGS,
    "opencl.kernels": _Form("a kernel, and other nodes", (_FUNCTION,), _LINK),
    "spirv.ExecutionMode": _Form("a kernel, and numbers of type i32", (_FUNCTION, _NUMBER), _NUMBER),
    "spirv.MemoryModel": _Form("two numbers of type i32", (_NUMBER, _NUMBER), None),
}


def check(module: Module) -> None:
    """Raise Malformed for metadata that would crash the backend, at the function or at the module's metadata."""
    nodes = {match[1]: match[2] for line in module.rest if (match := _NODE.fullmatch(line))}
    for function in module.functions:
        for kind, node in _ATTACHED.findall(function.head.after):
            if kind in _OF_FUNCTIONS:
                _check(_OF_FUNCTIONS[kind], kind, node, nodes, str(function.head))
    for line in module.rest:
        entry = _NAMED.fullmatch(line)
        if entry is not None and entry[1] in _OF_MODULES:
            for node in _LINK.findall(entry[2]):
                _check(_OF_MODULES[entry[1]], entry[1], node, nodes, line)


def _check(form: _Form, kind: str, node: str, nodes: Mapping[str, str], line: str) -> None:
    operands = nodes.get(node, "")
    texts = [text.strip() for text in _OPERAND.findall(operands)]
    patterns = [*form.first, *[form.rest] * (len(texts) - len(form.first))]
    fits = (pattern is None or pattern.fullmatch(text) for text, pattern in zip(texts, patterns, strict=False))
    if len(texts) < len(form.first) or not all(fits):
        raise Malformed("ir-metadata", f"!{kind} holds {form.words}, not !{{{operands}}}", line)
    if form.linked is not None:
        for text in texts:
            _check(form.linked, kind, text, nodes, line)
