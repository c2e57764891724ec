"""From text to tokens and back: Hugging Face's files, llama2.c's, and what is inside GGUF."""
