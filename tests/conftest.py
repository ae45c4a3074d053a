"""What all tests share."""

from hypothesis import settings

settings.register_profile("ours", deadline=None)  # the machine may be busy; a time is asserted where it matters
settings.load_profile("ours")
