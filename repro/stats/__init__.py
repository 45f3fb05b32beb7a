"""Statistical tests as pure functions of small frozen records."""
