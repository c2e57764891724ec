"""Process matters: cores, home folder, progress, precision, compilation cache, memory."""
