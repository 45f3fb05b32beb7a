"""A reader in one file: runs in the sections of an INI file, as many programs leave them."""

from __future__ import annotations

from configparser import ConfigParser

from repro.extend import FoundRun, Importer, numbers_in


class IniRuns(Importer):
    """``path`` is an INI file with a section for each run: its settings, its seed, its numbers."""

    shown = "an INI file, a section per run"

    @classmethod
    def recognises(cls, path):
        """Whether `repro compare` may take this for results that are read so."""
        return path.suffix == ".ini"

    def runs(self, root, digests):
        """Every run that is there, in order: `where` of an arm chooses by their fields."""
        parser = ConfigParser()
        parser.read_string(digests.read(self.place(root), root).decode("utf-8"))
        for name in parser.sections():
            fields = dict(parser[name])
            yield FoundRun(f"section {name}", fields, [numbers_in(fields)])
