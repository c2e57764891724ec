"""What is predicted of recall against association: memories, first steps, attention."""
