"""Clinical calculators from published formulas and scores: `calculate` of given inputs, `calculate_from` of a text."""

from tools.calculators.formulas import (
    Calculation,
    anion_gap,
    bmi,
    calculate,
    calculators,
    corrected_calcium,
    egfr,
    gestational_age,
)
from tools.calculators.reading import asked_for, calculate_from, completes, read, told_of

__all__ = [
    "Calculation",
    "anion_gap",
    "asked_for",
    "bmi",
    "calculate",
    "calculate_from",
    "calculators",
    "completes",
    "corrected_calcium",
    "egfr",
    "gestational_age",
    "read",
    "told_of",
]
