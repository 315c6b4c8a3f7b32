"""ConGen: a student whose two views must show the teacher's similarity distribution over a queue."""
