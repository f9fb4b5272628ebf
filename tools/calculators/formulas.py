"""Clinical calculators: formulas of a few lines, and scores of a table (`calculators.yaml`), each from its paper.

`calculate` takes what was given, checks units and limits, and returns the result with each input and what is missing;
nothing that was not given is taken for absent or normal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from prompts.errors import InputError
from tools.evidence import Frozen
from tools.text.demographics import SEX_LETTER, SEX_WORDS
from tools.text.measures import converted, measures
from tools.yaml_files import read_yaml

TABLE = Path(__file__).with_name("calculators.yaml")
UMOL = 88.4  # code: µmol/L of creatinine in a mg/dL (KDIGO 2024)
TERM = timedelta(days=280)  # paper: ACOG Committee Opinion 700 (2017)
LONGEST = timedelta(weeks=45)  # ours: a last period longer ago is a mistake
YES, NO = frozenset({"yes", "y", "true", "1", "present"}), frozenset({"no", "n", "false", "0", "absent"})
NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(.*)", re.DOTALL)

Sex = Literal["female", "male"]
Value = float | bool | str | date


class Given(NamedTuple):
    """An input in the calculator's unit, and the words that it was read from ("" where it was given as such)."""

    value: Value
    quote: str = ""


class Quantity(Frozen):
    """A number that calculators take: in words, its measures in `tools.text.measures`, its unit, and its limits."""

    say: str
    measures: tuple[str, ...] = ()
    unit: str
    least: float
    most: float


class Item(Frozen):
    """A line of a score; `calculators.yaml` says how each field is read."""

    say: str
    points: float = 0.0
    told: str = ""
    denied: str = ""
    ever: bool = False
    absent: bool = False
    sex: Sex | None = None
    ages: dict[int, float] = Field(default_factory=dict)
    over: dict[str, float] = Field(default_factory=dict)
    from_: dict[str, float] = Field(default_factory=dict, alias="from")
    below: dict[str, float] = Field(default_factory=dict)
    to: dict[str, float] = Field(default_factory=dict)

    @property
    def quantities(self) -> tuple[str, ...]:
        """The numbers that may show it."""
        return (*self.over, *self.from_, *self.below, *self.to)


class Calculator(Frozen):
    """A calculator of the table. ``needs``: inputs of a formula; ``items``: lines of a score, by their input's name."""

    title: str
    names: str
    needs: tuple[str, ...] = ()
    items: dict[str, Item] = Field(default_factory=dict)
    unit: str = "points"
    decimals: int = 1
    from_age: float = 0.0
    formula: str
    meaning: tuple[str, ...]
    source: str

    @property
    def counted(self) -> tuple[str, ...]:
        """The names of the inputs that a result is made of."""
        own = [n for n, i in self.items.items() if not (i.quantities and not i.told)]
        numbers = [q for i in self.items.values() for q in i.quantities]
        return tuple(dict.fromkeys([*self.needs, *own, *numbers]))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of all that it takes: an age also where it only tells whether the result holds."""
        return tuple(dict.fromkeys([*self.counted, *(["age"] if self.from_age else [])]))


class Used(Frozen):
    """An input: its name in words, its value and points as shown, and the words that it was read from."""

    name: str
    value: str
    points: float | None = None
    quote: str = ""


class Calculation(Frozen):
    """A result and what it was made from.

    ``value`` is None where something that a formula needs is missing; of a score it counts what was given, and
    ``least`` and ``most`` are what it may be with what is ``missing``.
    """

    name: str
    title: str
    value: float | None = None
    least: float | None = None
    most: float | None = None
    result: str = ""
    used: tuple[Used, ...] = ()
    missing: tuple[str, ...] = ()
    formula: str
    meaning: tuple[str, ...]
    source: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The result, its inputs with the words that they were read from, and what is missing, a sentence each."""
        head = f"{self.title}: {self.result}." if self.result else f"{self.title} cannot be calculated."
        told = [_told(u) for u in self.used]
        zero = [t for t, u in zip(told, self.used, strict=True) if u.points == 0]
        rest = [t for t in told if t not in zero]
        lines = (
            ("From" if all(u.points is None for u in self.used) else "Counted", rest),
            ("Not counted", zero),
            ("Missing", list(self.missing)),
        )
        return (head, *(f"{name}: {'; '.join(of)}." for name, of in lines if of))

    @property
    def about(self) -> tuple[str, ...]:
        """The formula, what mainstream guidance says of its results, and its source, a sentence each."""
        return (f"Formula of {self.title}: {self.formula}", *self.meaning, f"Source: {self.source}.")


def _told(used: Used) -> str:
    value = f" {used.value}" if used.value else ""
    points = "" if not used.points else f", {used.points:g} {'point' if used.points == 1 else 'points'}"
    return f"{used.name}{value}{points}" + (f" (“{used.quote}”)" if used.quote else "")


def egfr(creatinine: float, age: float, sex: Sex) -> float:
    """Estimated glomerular filtration rate of an adult in mL/min/1.73 m², without race (CKD-EPI 2021, Inker et al.,
    N Engl J Med 2021;385:1737-49).

    Args:
        creatinine: in serum, µmol/L. age: years, from 18.
    """
    female = sex == "female"
    ratio = creatinine / UMOL / (0.7 if female else 0.9)
    rate = 142 * min(ratio, 1) ** (-0.241 if female else -0.302) * max(ratio, 1) ** -1.2 * 0.9938**age
    return float(rate * (1.012 if female else 1.0))


def corrected_calcium(calcium: float, albumin: float) -> float:
    """Calcium in mmol/L adjusted for albumin in g/L: 0.02 for each g/L from 40, the form in general use of
    Payne et al., Br Med J 1973;4:643-6."""
    return calcium + 0.02 * (40 - albumin)


def anion_gap(sodium: float, chloride: float, bicarbonate: float) -> float:
    """Anion gap without potassium, all in mmol/L (Emmett and Narins, Medicine 1977;56:38-54)."""
    return sodium - (chloride + bicarbonate)


def bmi(weight: float, height: float) -> float:
    """Body mass index of kg and m (WHO Technical Report Series 894, 2000)."""
    return weight / height**2


def gestational_age(last_period: date, day: date) -> int:
    """Days of gestation on a day, by the first day of the last period (ACOG Committee Opinion 700, 2017).

    Raises:
        InputError: the period is after that day, or more than 45 weeks before it.
    """
    if not timedelta(0) <= day - last_period <= LONGEST:
        raise InputError(
            f"A last period on {last_period} gives no gestational age on {day}.", "Give the first day of the last one."
        )
    return (day - last_period).days


FORMULAS: dict[str, Callable[..., float]] = {
    "egfr": egfr,
    "corrected-calcium": corrected_calcium,
    "anion-gap": anion_gap,
    "bmi": bmi,
    "gestational-age": gestational_age,
}


@lru_cache(maxsize=1)
def calculators() -> dict[str, Calculator]:
    """The calculators by name."""
    return {name: Calculator.model_validate(row) for name, row in read_yaml(TABLE)["calculators"].items()}


@lru_cache(maxsize=1)
def quantities() -> dict[str, Quantity]:
    """The numbers that calculators take, by name."""
    return {name: Quantity.model_validate(row) for name, row in read_yaml(TABLE)["quantities"].items()}


def calculator(name: str) -> Calculator:
    """The calculator of this name; raises InputError where there is none."""
    found = calculators().get(name.strip().lower().replace("_", "-"))
    if found is None:
        raise InputError(f"There is no calculator {name!r}.", f"Name one of: {', '.join(calculators())}.")
    return found


def calculate(name: str, given: Mapping[str, Value | Given]) -> Calculation:
    """Calculate from what is given.

    Args:
        name: as in `calculators`, ``curb-65``.
        given: inputs by name (`Calculator.inputs`). A number is in the calculator's unit; a text says its own
            (``"1.58 mg/dL"``); yes or no for a condition; ISO dates.

    Returns:
        The result; what is missing is named, and never guessed.

    Raises:
        InputError: no such calculator or input, a unit that is not known, or a value that cannot be.
    """
    made = calculator(name)
    inputs = {n: _checked(n, v if isinstance(v, Given) else Given(v), made) for n, v in given.items()}
    age = inputs.get("age", Given(made.from_age)).value
    if isinstance(age, float) and age < made.from_age:
        raise InputError(f"{made.title} is not for an age of {age:g} years.", f"It holds from {made.from_age:g} years.")
    return _score(name, made, inputs) if made.items else _formula(name, made, inputs)


def shown(name: str, value: Value) -> str:
    """An input's value with its unit, as it is shown."""
    unit = quantities()[name].unit if name in quantities() else ""
    return f"{round(value, 2):g} {unit}".strip() if isinstance(value, float) else str(value)


def _formula(name: str, made: Calculator, inputs: Mapping[str, Given]) -> Calculation:
    missing = tuple(_say(n) for n in made.needs if n not in inputs)
    used = tuple(Used(name=_say(n), value=shown(n, g.value), quote=g.quote) for n, g in inputs.items())
    value: float | None = None
    result = ""
    if not missing:
        value = float(FORMULAS[name](*(inputs[n].value for n in made.needs)))
        result = f"{value:.{made.decimals}f} {made.unit}"
        first = inputs["last_period"].value if "last_period" in inputs else None
        if isinstance(first, date):
            result = f"{int(value) // 7} weeks and {int(value) % 7} days; due date {first + TERM}"
    return _calculation(name, made, value=value, result=result, used=used, missing=missing)


def _score(name: str, made: Calculator, inputs: Mapping[str, Given]) -> Calculation:
    used, missing = [], []
    total = least = most = 0.0
    for key, item in made.items.items():
        points, by = _points(key, item, inputs)
        if points is None:
            may = [*item.ages.values(), 0.0] if item.ages else [item.points, 0.0]
            least, most = least + min(may), most + max(may)
            missing.append(item.say)
        else:
            total += points
            told = [n for n in by if not isinstance(inputs[n].value, bool)]
            lead = "" if len(told) == 1 and _say(told[0]) == item.say else "{} "
            values = ", ".join(f"{lead.format(_say(n))}{shown(n, inputs[n].value)}" for n in told)
            quote = "; ".join(dict.fromkeys(inputs[n].quote for n in by if inputs[n].quote))
            used.append(Used(name=item.say, value=values, points=points, quote=quote))
    result = f"{total:g} {'point' if total == 1 else 'points'}"
    if missing:
        result += f" from what was told, {total + least:g} to {total + most:g} with what is missing"
    bounds = {"least": total + least, "most": total + most}
    counted = {"value": total if used else None, "result": result if used else ""}
    return _calculation(name, made, **bounds, **counted, used=tuple(used), missing=tuple(missing))


def _points(key: str, item: Item, inputs: Mapping[str, Given]) -> tuple[float | None, list[str]]:
    """What an item counts, None where what was given does not tell; and the inputs that tell it."""
    if item.ages or item.sex:
        value = inputs[key].value if key in inputs else None
        if value is None:
            return None, []
        if item.sex:
            return (item.points if value == item.sex else 0.0), [key]
        return next((p for a, p in sorted(item.ages.items(), reverse=True) if float(str(value)) >= a), 0.0), [key]
    tests: list[tuple[dict[str, float], Callable[[float, float], bool]]] = [
        (item.over, lambda n, limit: n > limit),
        (item.from_, lambda n, limit: n >= limit),
        (item.below, lambda n, limit: n < limit),
        (item.to, lambda n, limit: n <= limit),
    ]
    shows = {n: t(float(str(inputs[n].value)), x) for limits, t in tests for n, x in limits.items() if n in inputs}
    stated = inputs[key].value if key in inputs and item.told else None
    by = [n for n, yes in shows.items() if yes] or ([key] if stated is not None else list(shows))
    if any(shows.values()) or stated is True:
        return (0.0 if item.absent else item.points), by
    if stated is False or (shows and len(shows) == len(item.quantities)):
        return (item.points if item.absent else 0.0), by
    return None, []


def _calculation(name: str, made: Calculator, **found: object) -> Calculation:
    about = {"title": made.title, "formula": made.formula, "meaning": made.meaning, "source": made.source}
    return Calculation.model_validate({"name": name, **about, **found})


def _say(name: str) -> str:
    return quantities()[name].say if name in quantities() else DATES.get(name, name.replace("_", " "))


DATES = {"last_period": "first day of the last period", "day": "day to count to"}


def _checked(name: str, given: Given, made: Calculator) -> Given:
    """An input in its unit; raises InputError for one that is not taken, cannot be read or cannot be."""
    if name not in made.inputs:
        raise InputError(f"{made.title} takes no {name!r}.", f"It takes: {', '.join(made.inputs)}.")
    value = given.value
    if name in quantities():
        return given._replace(value=_number(name, value))
    if name in DATES:
        return given._replace(value=_date(name, value))
    if name == "sex":
        word = str(value).strip().lower()
        read = SEX_LETTER.get(word.upper()) or next((s for s, w in SEX_WORDS.items() if re.fullmatch(w, word)), None)
    else:
        word = str(value).strip().lower()
        read = "yes" if word in YES else "no" if word in NO else None
    if read is None:
        raise InputError(f"{name} cannot be {value!r}.", "Say female or male." if name == "sex" else "Say yes or no.")
    return given._replace(value=read if name == "sex" else read == "yes")


def _number(name: str, value: Value) -> float:
    kind = quantities()[name]
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    if number is None:
        match = NUMBER.fullmatch(str(value))
        unit = match[2].strip() if match else ""
        if match is None:
            raise InputError(f"{kind.say} {value!r} is no number.", f"Give it in {kind.unit}.")
        units = [o["unit"] for m in kind.measures for o in measures()[m].get("units", ()) if "unit" in o]
        found = [c for m in kind.measures if (c := converted(float(match[1]), unit, m)) is not None]
        if unit.lower() in (kind.unit.lower(), "") and not (units and not unit):
            found = [float(match[1])]
        if len(set(found)) > 1:
            raise InputError(f"{kind.say} {value!r} may be of two measures.", f"Give it in {kind.unit}.")
        if not found:
            fault = f"the unit {unit!r} is not known" if unit else "no unit is given"
            raise InputError(f"{kind.say} {value!r}: {fault}.", f"Give it in {kind.unit}, with the unit.")
        number = found[0]
    if not kind.least <= number <= kind.most:
        raise InputError(
            f"{kind.say} {number:g} {kind.unit} cannot be: it lies outside {kind.least:g} to {kind.most:g}.",
            "Check the number and its unit.",
        )
    return number


def _date(name: str, value: Value) -> date:
    try:
        return value if isinstance(value, date) else date.fromisoformat(str(value).strip())
    except ValueError:
        raise InputError(f"{DATES[name]} {value!r} is no date.", "Write it as 2026-03-04.") from None
