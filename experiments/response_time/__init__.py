"""The paper's wide-area experiment: one turn per scheduler or strategy."""
