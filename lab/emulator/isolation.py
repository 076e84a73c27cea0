"""Knows which sites of the emulated wide area are isolated, and whom that separates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Isolation:
    """Sites without a path to any other site; two isolated sites do not reach each other either.

    Attributes:
        sites: Indexes of the isolated sites.
    """

    sites: frozenset[int] = frozenset()

    def isolate(self, site: int) -> Isolation:
        """Return this with one more isolated site; an isolated one changes nothing."""
        return Isolation(self.sites | {site})

    def rejoin(self, site: int) -> Isolation:
        """Return this without an isolated site; one that is not isolated changes nothing."""
        return Isolation(self.sites - {site})

    def separates(self, a: int, b: int) -> bool:
        """Say whether no packet passes between two sites; within a site all pass."""
        return a != b and (a in self.sites or b in self.sites)
