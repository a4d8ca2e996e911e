"""The compiled kernels of a library for C programs, and the products that they compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from coopmat.linalg.listing import Choice, Listing, Source
from coopmat.runtime.ahead import AheadProgram, AheadTarget


@dataclass(frozen=True)
class Row:
    """A choice with the numbers of its programs: the kernel's, and those that copy A and B into panels."""

    choice: Choice
    program: int
    copies: tuple[int, ...]


@dataclass
class Library:
    """The content of a header.

    target: the device.
    products: the types of products, each with the choices that are tried in order.
    programs: the sources with their programs, once each.
    """

    target: AheadTarget
    products: list[tuple[Listing, list[Row]]] = field(default_factory=list)
    programs: dict[Source, AheadProgram] = field(default_factory=dict)

    @classmethod
    def of(cls, target: AheadTarget, listings: Sequence[Listing]) -> Library:
        """Return the library with products of some types. Raises CompileError and DriverError."""
        library = cls(target)
        for listing in dict.fromkeys(listings):
            library.products.append((listing, library._rows(listing)))
        return library

    def _rows(self, listing: Listing) -> list[Row]:
        """Return the choices for products of some types, with compiled kernels."""
        target, rows = self.target, list[Row]()
        choices = list(listing.choices(target.table, target.instructions, target.device.local_memory))
        for choice in choices:
            if choice.tiling.sub_group_size in (0, self._compiled(choice.source).kernels["gemm"].sub_group_size):
                rows.append(self._row(choice))
                if choice.is_for_all:
                    break
        if rows[-1].choice.needs_k:
            # If k is 0, any kernel without panels is right, whatever its class.
            others = (row.choice for row in rows if not (row.choice.needs_k or row.choice.is_whole))
            rows.append(self._row(replace(next(others, choices[-1]), shape_class="", rows=0)))
        return rows

    def _row(self, choice: Choice) -> Row:
        sources = [choice.source, *(Source("pack", "pack.cl", panels.options()) for panels in choice.panels)]
        for source in sources:
            self._compiled(source)
        program, *copies = map(list(self.programs).index, sources)
        return Row(choice, program, tuple(copies))

    def _compiled(self, source: Source) -> AheadProgram:
        if source not in self.programs:
            self.programs[source] = self.target.compile(source.text, source.options, source.file)
        return self.programs[source]
