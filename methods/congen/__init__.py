"""ConGen: two views of a student reproduce the teacher's similarity distribution over a queue."""
