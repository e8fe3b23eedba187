# Install rules and the exported package (filled by the packaging work).
