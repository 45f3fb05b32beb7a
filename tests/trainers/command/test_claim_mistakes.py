"""Mistakes in a claim about a program have their place in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trainers.command.toy import REPORTED, change, mistakes


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("workdir: code", "workdir: cod", "13:3", "there is no folder 'cod'"),
        ("workdir: code", "workdir: ..", "13:3", "there is no folder '..'"),
        ("files: [train.py]", "files: [trian.py]", "14:11", "no file 'trian.py'"),
        ("files: [train.py]", "files: [x, '../a.claim.yaml']", "14:14", "files"),
        ("{optimizer: adam}", "{seed: 3}", "19:", "cannot be called seed"),
        (', "{args}"', "", "", "the command uses neither {args} nor {optimizer}"),
        ("[1337, 42, 7, 8, 9]", "[1337, 42, 42]", "", "seed 42 is listed twice"),
        ("args: {optimizer: adam}", "configuration: x/y, args: {a: 1}", "", "one kind of evidence"),
        ("from: eval.error, ", "", "", "does not say which number of arm"),
        ("configuration:\n", "other:\n", "", "other"),
        ("{label: Adam, ", "{label: Adam, environment: {A: x}, ", "19:23",
         "for this arm alone: `override: {environment: ...}`"),
        (REPORTED, "kind: perplexity, split: test", "", "a program, which has no perplexity"),
    ],
)  # fmt: skip
def test_mistakes_have_their_place(folder: Path, old: str, new: str, place: str, said: str) -> None:
    change(folder, old, new)
    text = mistakes(folder)
    assert said in text
    assert f"a.claim.yaml:{place}" in text


def test_args_without_a_configuration(folder: Path) -> None:
    text = (folder / "a.claim.yaml").read_text(encoding="utf-8")
    head, rest = text.split("configuration:\n")
    (folder / "a.claim.yaml").write_text(f"{head}arms:{rest.split('arms:')[1]}", encoding="utf-8")
    assert "the claim holds no configuration" in mistakes(folder)


def test_a_link_out_of_the_folder_is_no_file_of_the_program(folder: Path) -> None:
    (folder / "code" / "secret.py").symlink_to("/etc/passwd")
    change(folder, "files: [train.py]", 'files: ["*.py"]')
    assert "leads out" in mistakes(folder)
