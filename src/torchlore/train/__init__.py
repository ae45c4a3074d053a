"""The training engine. Importing this imports nothing: `lore train --help` answers before torch could be loaded."""
