"""Why an argument got its role."""

from __future__ import annotations

from sapwood.learn.explain import Explanation

__all__ = ["RoleExplanation"]


class RoleExplanation(Explanation):
    """Why an argument got its role: ``features`` with weights that, with ``bias``, add up to the margin.

    ``label`` is the role and ``value`` the margin; all features that were there are listed, heaviest first.
    """

    @property
    def role(self) -> str:
        """The role that is explained."""
        return str(self.label)

    @property
    def margin(self) -> float:
        """The margin of the role."""
        return self.value
