"""From session events to insights, and from insights to bullets."""
