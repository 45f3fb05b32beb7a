"""What was expected and what to do, in words, where pydantic names a pattern, type or limit."""

from __future__ import annotations

from repro.specs.arm import FileName
from repro.specs.base import (
    ConfigurationId,
    CsvName,
    Decimal,
    Name,
    ObjectName,
    PartName,
    PrintedP,
)
from repro.specs.corpus import Sha256
from repro.specs.search import SettingPath
from repro.specs.seeds import DivergedPolicy, OrderColumn
from repro.specs.shapes import pattern

PATTERNS = {
    pattern(Name): (
        "a name of lower-case letters, digits and underscores, a letter first",
        "rename it",
    ),
    pattern(ConfigurationId): (
        "a configuration's path below configurations/, such as yang2018/ptb/mos",
        "write names joined by '/', without '.yaml'",
    ),
    pattern(ObjectName): (
        "module:object, such as my_package.layers:MyLayer",
        "write the module as it is imported, ':', and the name in it",
    ),
    pattern(SettingPath): (
        "the dotted path of a value of the model or the recipe, such as recipe.dropout.hidden",
        "write 'model.' or 'recipe.', and the keys that lead to the value",
    ),
    pattern(PartName): (
        "the name of a part of the model, such as output or trunk.layers.0",
        "write names joined by dots",
    ),
    pattern(Decimal): (
        'a number as it is printed, in quotes, such as "56.30"',
        "copy the number from the paper, without units",
    ),
    pattern(OrderColumn): (
        "the name of a column of a table, such as finished or created_at",
        "write it as the first line of the table has it",
    ),
    pattern(CsvName): (
        "the name of a CSV file in the folder of this file, such as figure_2.csv",
        "write lower-case letters, digits and underscores, and '.csv'",
    ),
    pattern(FileName): (
        "the name of a file beside the claim, or in a folder there, such as results.csv",
        "write letters, digits, '.', '-' and '_', and '/' between folders",
    ),
    pattern(DivergedPolicy): (
        "one of invalid, worst, exclude<=k with a number for k",
        'write it in quotes, such as "exclude<=1"',
    ),
    pattern(PrintedP): (
        'a p-value as it is printed, in quotes, such as "2.7e-2" or "<0.001"',
        "copy the number from the paper; leave the key out where none is printed",
    ),
    pattern(Sha256): (
        "a SHA-256, 64 hexadecimal digits in lower case",
        "copy what sha256sum prints",
    ),
}
"""Texts of a certain form: what they are, and what to do."""

TYPES = {
    "bool_type": "true or false",
    "dict_type": "a mapping, `key: value` lines",
    "float_type": "a number",
    "int_type": "a whole number",
    "model_type": "a mapping, `key: value` lines",
    "model_attributes_type": "a mapping, `key: value` lines",
    "string_type": "a text",
    "tuple_type": "a list",
}
"""Types, by pydantic's name for the error."""

RETYPE = {
    ("bool_type", ""): "write true or false, without quotes",
    ("float_type", ""): "write a number",
    ("float_type", "text"): "write digits only, without quotes, units or separators",
    ("int_type", ""): "write a whole number",
    ("int_type", "number"): "write it without a decimal point and without an exponent",
    ("int_type", "text"): "write digits only, without quotes, units or separators",
    ("string_type", ""): "write a text",
    ("string_type", "number"): "put it in quotes, as it is printed",
    ("tuple_type", ""): "put it in brackets: [a, b]",
}
"""What to do about a wrong type, by what was written instead."""

LIMITS = {
    "greater_than": ("gt", "a number above"),
    "greater_than_equal": ("ge", "a number of at least"),
    "less_than": ("lt", "a number below"),
    "less_than_equal": ("le", "a number of at most"),
}
"""Limits of numbers: where pydantic keeps them, and how they are said."""
