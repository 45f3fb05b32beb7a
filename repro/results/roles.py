"""What a column, a field or a part of a path is: an arm, a seed, a task, an item, a step ...

Decided by the name, from one table, and by the values. What neither tells has no role: whoever
reads the results has to say what it is.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal[
    "arm", "seed", "task", "item", "fold", "step", "state", "measure", "index", "time"
]

NAMES: Mapping[Role, tuple[str, ...]] = {
    "arm": (
        *("arm", "group", "method", "variant", "treatment", "condition", "algorithm", "algo"),
        *("classifier", "clf", "estimator", "learner", "framework", "agent", "system", "policy"),
        *("approach", "technique", "strategy", "solver", "optimizer", "optimiser"),
        "scheme",
        *("architecture", "arch", "model", "name"),
    ),
    "seed": (
        *("seed", "random_seed", "random_state", "rng_seed", "rng", "run", "replicate"),
        *("replication", "repetition", "repeat", "rep"),
    ),
    "task": (
        *("task", "dataset", "data_set", "env", "environment", "game", "benchmark", "domain"),
        *("scene", "subject", "project", "subtask", "corpus", "language", "lang", "scenario"),
        *("suite", "maze", "world", "participant", "patient"),
    ),
    "item": (
        *("episode", "ep", "trial", "doc", "document", "question", "sample", "item", "example"),
        *("instance", "prompt", "query", "qid", "problem", "image", "sentence", "case"),
        *("test_case", "conversation", "dialog", "utterance", "passage"),
        *("instruction", "input", "text", "premise", "hypothesis", "paragraph", "caption"),
    ),
    "fold": (
        *("fold", "cv_fold", "cv_split", "split", "cv", "outer_fold", "inner_fold", "kfold"),
        *("k_fold", "partition", "bootstrap"),
    ),
    "step": (
        *("step", "global_step", "epoch", "iteration", "iter", "timestep", "time_step"),
        *("timesteps", "total_timesteps", "env_step", "env_steps", "frame", "frames", "round"),
        *("generation", "checkpoint", "ckpt", "update", "updates", "training_iteration"),
        *("timesteps_total", "num_env_steps", "training_step", "train_step"),
    ),
    "state": ("state", "status", "run_state", "run_status", "job_state", "job_status"),
    "measure": (
        *("loss", "acc", "accuracy", "error", "err", "f1", "auc", "auroc"),
        *("precision", "recall", "bleu", "rouge", "ppl", "perplexity", "reward", "return"),
        *("score", "mse", "mae", "rmse", "r2", "map", "miou", "iou", "psnr", "ssim", "fid"),
        *("wer", "cer", "em", "correct", "success_rate", "nll", "bpb", "value", "result"),
        *("metric", "latency", "throughput"),
    ),
    "index": ("", "index", "idx", "row", "unnamed", "no", "nr", "number", "rank"),
    "time": (
        *("time", "timestamp", "created", "created_at", "updated_at", "date", "datetime"),
        *("stamp", "runtime", "walltime", "wall_time", "start_time", "end_time"),
        *("_step", "_runtime", "_timestamp", "total_flos"),
        *("eval_runtime", "eval_samples_per_second", "eval_steps_per_second"),
        *("train_runtime", "train_samples_per_second", "train_steps_per_second"),
    ),
}
"""The only table of names; of arms and seeds the surest stand first."""

ARMS, SEEDS = NAMES["arm"], NAMES["seed"]

RUNS = frozenset(
    {"s", "r", "v", "version", "ver", "exp", "experiment", "job", "attempt", "try", "result"}
    | {"results", "metric", "metrics", "eval", "test", "log", "logs", "output", "out", "summary"}
    | {"score", "scores", "all", "final"}
)
"""Words before the number of a run in its path, besides those of a seed."""

PHASES = frozenset({"train", "training", "val", "valid", "validation", "test", "eval", "dev"})
"""What is no part of a run, and no arm: when a number was measured."""

UNCOMPARED: frozenset[Role] = frozenset({"seed", "item", "fold", "step", "state", "index", "time"})
"""Numbers that nobody compares, unless they are named."""

PART: frozenset[Role] = frozenset({"item", "fold"})
"""Rows of which several are of one run, whatever values these have."""

MACHINE = frozenset({
    "gpu", "cpu", "device_name", "host", "hostname", "machine", "computer", "cluster", "program",
    "script", "command", "cmd", "cwd", "executable", "commit", "git_commit", "git_sha", "git_hash",
    "sha", "username", "duration", "elapsed", "started", "started_at", "finished", "finished_at",
    "python", "python_version", "torch_version", "cuda_version", "os", "platform", "pid",
})  # fmt: skip
"""Names of texts that say where, when and by what a run was made."""

LONGEST_LABEL = 200

_ROLES = {name: role for role, names in NAMES.items() for name in names}
_NUMBERED = re.compile(r"_(id|ids|idx|index|no|nr|num|number|key)$")
_CALLED = re.compile(r"_(name|label|id)$")
_BEST = re.compile(
    r"(?i)(?<![a-z])(?:best|min(?:imum)?|max(?:imum)?|lowest|highest|peak)(?![a-z])[\s_-]*"
)
_INNER = ("name", "id", "type", "_target_")
_DURATION = r"(?:\d+(?:[.,]\d+)?\s*(?:d|h|hr|m|min|s|sec|ms)(?:ays?|ours?|utes?|onds?|s)?\s*)+"
_OF_WHEN = re.compile(
    rf"(?i){_DURATION}|(?:\d+:)?\d+:\d\d(?:\.\d+)?|\d{{4}}[-/]\d\d?[-/]\d\d?(?:[T _].*)?"
    r"|(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])(?:[0-9a-f]{7,12}|[0-9a-f]{40})"
)
"""A duration, a time of day, a date, or the hash of a commit."""

_WHOLE = re.compile(r"0*([0-9]{1,15})(\.0+)?")
_NUMBERED_WORD = re.compile(r"[^\W\d]+[\s=#:-]*0*(\d{1,15})")
_SEED_WORD = r"(?:(?:random|rng)?[ _-]?seed|run|replicate|repeat|rep)[\s_=#:.-]*0*(\d{1,15})"
_SAID = re.compile(rf"(?i){_SEED_WORD}")
_SAID_FOLD = re.compile(r"(?i)(?:cv[\s_-]?)?(?:fold|split)[\s_=#:.-]*0*(\d{1,15})")
_LABELLED = re.compile(rf"(?i)[\s_\-.,;:/|(\[]{_SEED_WORD}[\s)\]]*$")

Cells: TypeAlias = Mapping[str, Counter[str]]
"""arm -> the values that a field has in its runs, and how often."""


TRIAL = re.compile(
    r"(?:trial|attempt|repeat|repetition|rollout)s?(?:[_ -]?(?:id|idx|index|num|number|no))?"
)
"""A field that counts the answers of one trained model to an item."""


def last_part(key: str) -> str:
    """The name of a field without what it lies in: `seed` of `config.seed`."""
    return key.casefold().rpartition(".")[2]


def plain(name: str) -> str:
    """A name as the table has it: `Data Set`, `data-set` and `config.dataSet` are `data_set`."""
    before, _, last = name.rpartition(".")
    if before and last.casefold() in _INNER:  # env.name, optimizer._target_
        last = before.rpartition(".")[2]
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last.strip().lstrip("#").strip().rstrip(":# "))
    return re.sub(r"[\s-]+", "_", split).casefold().removeprefix("key_")  # of Weka's experimenter


def role_of(name: str) -> Role | None:
    """What a name says by itself; None where that is nothing."""
    word = plain(name)
    if word.startswith("unnamed:"):
        return "index"
    if found := _ROLES.get(word) or _ROLES.get(_NUMBERED.sub("", word)):
        return found
    called = _ROLES.get(_CALLED.sub("", word))
    if called in ("arm", "task"):
        return called
    return "measure" if last_word(word) in NAMES["measure"] else None


def of_machine(name: str, cells: Sequence[Any]) -> bool:
    """Whether texts say where or when a run was made, by their name or by all that they are."""
    word = re.sub(r"_(?:name|type|model|id)$", "", plain(name))
    texts = [str(cell).strip() for cell in cells]
    return word in MACHINE or role_of(name) == "time" or all(map(_OF_WHEN.fullmatch, texts))


def says_best(name: str) -> bool:
    """Whether a name has a word for the best of several values: `best_val_loss`."""
    return bool(_BEST.search(name))


def without_best(name: str) -> str:
    """A name without such words: `val_loss` of `best_val_loss`."""
    return _BEST.sub("", name).strip(" _-/.:|")


def counts_steps(name: str) -> bool:
    """Whether a field says how far a run went: `step`, `epochs`."""
    return "step" in (role_of(name), role_of(name.strip().removesuffix("s")))


def last_word(name: str) -> str:
    """The last word of a name: `error` of `test/error`."""
    return re.split(r"[^a-z0-9]+", name.casefold())[-1]


def surest(keys: Sequence[str], role: Literal["arm", "seed"]) -> list[str]:
    """Those of the fields that have a role by their name, the surest name first."""
    words = NAMES[role]

    def place(key: str) -> int:
        word = plain(key)
        ways = (word, _NUMBERED.sub("", word), _CALLED.sub("", word))
        return next((words.index(way) for way in ways if way in words), len(words))

    return sorted((key for key in keys if role_of(key) == role), key=place)


# values


def whole(cell: Any) -> int | None:
    """The whole number in a cell; None for anything else."""
    found = _WHOLE.fullmatch(str(cell).strip())
    return None if found is None or isinstance(cell, bool) else int(found[1])


def said_seed(cell: Any) -> int | None:
    """The number of a cell that says itself that it is a seed: `seed_0`, `run 3`."""
    found = _SAID.fullmatch(str(cell).strip())
    return int(found[1]) if found else None


def said_fold(cell: Any) -> int | None:
    """The number of a cell that says itself that it is a fold: `fold_0`, `split 3`."""
    found = _SAID_FOLD.fullmatch(str(cell).strip())
    return int(found[1]) if found else None


def is_k_fold(name: str) -> bool:
    """Whether a field of folds may be one of cross-validation, and not of resamples."""
    return plain(name) not in ("bootstrap", "partition")


def seed_number(cell: Any) -> int | None:
    """The number of a cell of a field of seeds: 3, 3.0, `seed_3`, `fold 3`; None without one."""
    found = whole(cell)
    if found is None and (words := _NUMBERED_WORD.fullmatch(str(cell).strip())):
        return int(words[1])
    return found


class Labelled(NamedTuple):
    """A label that names arm and seed, `Baseline (Seed 1)`."""

    arm: str
    seed: int


def labelled(text: str) -> Labelled | None:
    """What a label says of arm and seed; None where it does not say both."""
    found = _LABELLED.search(text) if len(text) <= LONGEST_LABEL else None
    arm = text[: found.start()].strip(" _-.,;:/|([") if found else ""
    return Labelled(arm, int(found[1])) if found and arm else None


def is_index(cells: Sequence[Any]) -> bool:
    """Whether rows are numbered: 0..n-1 or 1..n, in any order."""
    numbers = {number for cell in cells if (number := whole(cell)) is not None}
    count = len(cells)
    return count > 1 and numbers in (set(range(count)), set(range(1, count + 1)))


def is_regular(numbers: Sequence[float]) -> bool:
    """Whether numbers are evenly spaced, or grow by one factor, as settings and steps do."""
    if len(numbers) < 4:
        return False
    found = sorted(numbers)
    apart = [after - before for before, after in pairwise(found)]
    factors = [after / before if before > 0 else 0.0 for before, after in pairwise(found)]
    return any(
        each[0] > 0 and all(math.isclose(each[0], other, rel_tol=1e-9) for other in each)
        for each in (apart, [factor if factor > 1 else 0.0 for factor in factors])
    )


def cells_by_arm(arms: Sequence[str], fields: Sequence[Mapping[str, Any]], key: str) -> Cells:
    """The values of a field in the runs of each arm; lists and what is empty are none."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for arm, said in zip(arms, fields, strict=True):
        value = said.get(key)
        if isinstance(value, str | int | float | bool) and str(value).strip():
            found[arm][str(value).strip()] += 1
    return found


def varies(cells: Cells) -> bool:
    """Whether runs of one arm differ in a field."""
    return any(len(values) > 1 for values in cells.values())


def recurs(cells: Cells, arms: int, *, exactly: bool = False) -> bool:
    """Whether the arms share the values of a field, so that it tells rows apart and no arm.

    Texts and whole numbers are shared if half of those of the arm with the fewest are in all;
    decimals, which may be another measure, and what is asked ``exactly``, if all have the same.
    """
    if len(cells) < arms or not varies(cells):
        return False
    sets = [set(values) for values in cells.values()]
    if len(sets) < 2:
        return False
    shared, fewest = set.intersection(*sets), min(map(len, sets))
    if exactly or any(_decimal(value) for value in set.union(*sets)):
        return all(values == shared for values in sets)
    return len(shared) > 1 and 2 * len(shared) >= fewest


def _decimal(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return whole(value) is None
