"""`python -m torchlore` is `lore`."""

from torchlore.cli import main

raise SystemExit(main())
