"""Statistical tests as pure functions of small frozen records."""

import sys

if sys.modules.get("torch", sys) is None:
    # An import that is blocked this way makes scipy.stats crash, which looks for torch's arrays.
    del sys.modules["torch"]
