"""What must hold of a database after anything whatever: the engine's own list, which rehearsals ask too."""

from engine.store.invariants import BROKEN, broken, violations

__all__ = ["BROKEN", "broken", "violations"]
