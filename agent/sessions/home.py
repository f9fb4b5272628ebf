"""The places under the data folder."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from prompts.errors import DataError
from tools.files import FOLDER, private_folder, told_when_full


@dataclass(frozen=True)
class Home:
    """The places under the data folder."""

    root: Path

    def prepare(self) -> Home:
        """Make the folder, mode 0700; raises DataError when it cannot be used.

        Folders with patients' words that an older program left open to others are closed to them.
        """
        try:
            with told_when_full(f"The data folder {self.root}"):
                private_folder(self.root)
            for folder in (self.root, self.traces, self.locks):
                if folder.is_dir() and folder.stat().st_mode & 0o777 != FOLDER:
                    folder.chmod(FOLDER)
            if not os.access(self.root, os.W_OK | os.X_OK):
                raise OSError(errno.EACCES, "it may not be written")
        except OSError as error:
            raise DataError(
                f"The data folder {self.root} cannot be used: {error.strerror}.",
                "Set ANAMNESIS_HOME to a folder that you may write to.",
            ) from error
        return self

    @property
    def checkpoints(self) -> Path:
        """SQLite file of the checkpoints."""
        return self.root / "checkpoints.sqlite"

    @property
    def texts(self) -> Path:
        """SQLite file of the content store."""
        return self.root / "texts.sqlite"

    @property
    def replies(self) -> Path:
        """SQLite file of the replies of models that are kept by what was asked."""
        return self.root / "replies.sqlite"

    @property
    def records(self) -> Path:
        """SQLite file of the sessions' records: titles, turns, reviews."""
        return self.root / "sessions.sqlite"

    @property
    def locks(self) -> Path:
        """Folder of the sessions' locks."""
        return self.root / "locks"

    @property
    def traces(self) -> Path:
        """Folder of the traces."""
        return self.root / "traces"

    @property
    def replays(self) -> Path:
        """Folder of requests to a model and their replies that are kept as files, by run and question."""
        return self.root / "replays"

    @property
    def indexes(self) -> Path:
        """Folder of the indexes and compiled tables."""
        return self.root / "indexes"

    @property
    def library(self) -> Path:
        """Folder of the user's own documents."""
        return self.root / "library"

    @property
    def corpora(self) -> Path:
        """Folder of the collections that were built at scale."""
        return self.root / "corpora"

    @property
    def cache(self) -> Path:
        """Folder of what may be deleted at any time."""
        return self.root / "cache"

    @property
    def encoder_choice(self) -> Path:
        """The result of the encoder's self-measurement at set-up."""
        return self.root / "encoder.json"
