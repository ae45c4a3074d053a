"""The handbook as a static web page: the same notes, one page a chapter, searchable offline, no request to another host."""

from torchlore.site.build import build

__all__ = ["build"]
