"""Pure functions from data to one self-contained HTML file: no request to another host, readable from the disk."""
