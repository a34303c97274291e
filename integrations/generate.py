"""Write every file of this folder that an agent loads, from the one source in ``memfs/connect/texts.py``.

python integrations/generate.py
"""

from __future__ import annotations

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from memfs.connect.texts import iter_integrations  # noqa: E402


def main() -> None:
    for path, text in iter_integrations():
        target = CHECKOUT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
