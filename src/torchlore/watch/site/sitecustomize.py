"""Puts the watch into a process that a watched program has started; torchlore is imported only if torch is."""

import json
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib would be one import more in every process
sys.path[:] = [one for one in sys.path if os.path.abspath(one or ".") != _here]  # noqa: PTH100 - see above
_settings = json.loads(os.environ.get("TORCHLORE_WATCH", "{}"))


class _Finder:
    @staticmethod
    def find_spec(name: str, _path: object, _target: object = None) -> object:
        """Step aside for everything but torch."""
        if name == "torch":
            sys.meta_path.remove(_Finder)  # type: ignore[arg-type]  # a class with find_spec is all that is asked for
            if _settings["source"] not in sys.path:
                sys.path.append(_settings["source"])
            from torchlore.watch.child import begin_child

            begin_child(_settings)
            return sys.modules["importlib.util"].find_spec("torch")
        return None


if _settings:
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]  # see above
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # noqa: F401 - the one that would have run without us
except ModuleNotFoundError:
    sys.modules["sitecustomize"] = type(sys)("sitecustomize")
