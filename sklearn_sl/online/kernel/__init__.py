"""Online learners in the space of a kernel."""
